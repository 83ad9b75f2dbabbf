// Which keys of the page are the scene's, beside those of a control that has the focus.
import { STEP_KEYS, actionOf, numbers } from "./keys.js";

// Where all keys are the control's: what is typed into, and a list or menu that is open. WebKit does
// not know :open, and gives a page no key while a list is.
export const TYPED = "textarea, [contenteditable=true], "
  + "input:not([type=checkbox], [type=radio], [type=range], [type=button], [role=combobox])";
export const OPEN = "[role=combobox][aria-expanded=true], [role=listbox], [role=menu]"
  + (CSS.supports("selector(:open)") ? ", select:open" : "");
// Where they are its own if the focus came by the keyboard: all keys, or only Space.
const STEERED = "input[type=radio], input[type=range], select, [role=combobox]";
const PRESSED = "button, a, summary, input[type=checkbox], [role=button]";

export class Keyboard {
  byPointer = true; // whether the last control was reached by a pointer
  #hasChosen = false; // whether a pointer has chosen from a list, which closes a moment later
  #player;
  #list; // of the keys, a dialog
  #owns; // whether a key is for this player
  #actions; // by key
  #typed;

  constructor(player, list, { owns = () => true, keys }) {
    this.#player = player;
    this.#list = list;
    this.#owns = owns;
    this.#actions = { ...STEP_KEYS, "?": "keys", ...keys };
    this.#typed = numbers((number) => player.perform(number));
  }

  pointed() {
    this.byPointer = true;
    this.#hasChosen = false;
  }

  clicked({ target }) {
    this.#hasChosen = Boolean(target.closest("[role=option]"));
  }

  pressed(event) {
    const [player, at] = [this.#player, event.composedPath()[0]];
    if (event.key === "Tab") this.byPointer = false;
    if (event.ctrlKey || event.metaKey || event.altKey || !this.#owns(event)) return;
    if (this.#list.open) { // Escape closes it
      if (event.key === "?") player.act("keys");
      return;
    }
    if (this.#isForControl(at, event.key)) {
      player.replay.forget();
      // A number that is entered takes effect, and then its field is done with.
      if (event.key === "Enter" && this.byPointer && at.matches("input")) setTimeout(() => at.blur());
      return;
    }
    const isDigit = this.#typed(event.key);
    if (isDigit) player.pause();
    const name = actionOf(event, this.#actions);
    if (!name && !isDigit) return player.replay.forget();
    if (name === "leave") return player.act("leave"); // Escape closes what else is open, too
    event.preventDefault();
    if (this.byPointer && at.closest?.(`${STEERED}, ${PRESSED}`)) {
      event.stopPropagation(); // before the control that was clicked has it
      at.blur();
    }
    if (!isDigit) player.act(name);
  }

  // Whether a key is for the control with the focus. Who clicked it goes on in the scene; who came to
  // it by the keyboard works with it by the keyboard.
  #isForControl(at, key) {
    if (!at.closest) return false;
    if (at.closest(TYPED)) return true;
    if (at.closest(OPEN) && !(this.byPointer && this.#hasChosen)) return true;
    if (this.byPointer) return false;
    return Boolean(at.closest(STEERED) || (key === " " && at.closest(PRESSED)));
  }
}
