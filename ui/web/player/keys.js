// What the keys of a scene do.
export const STEP_KEYS = {
  ArrowLeft: "back", ArrowRight: "forward", ArrowUp: "statement-back",
  ArrowDown: "statement-forward", PageUp: "outer-back", PageDown: "outer-forward",
  Home: "first", End: "last", " ": "play", b: "barrier", ",": "part-back",
  ".": "part-forward", "<": "slower", ">": "faster",
};

const TYPING_MS = 800; // after which a number is complete
const LONGEST = 6; // digits of a number

// Takes keys one by one, and jumps to the number that digits make: with Enter, or after a pause.
// Returns whether a key was taken.
export function numbers(jump) {
  let digits = "";
  let timer = null;
  const end = () => {
    clearTimeout(timer);
    if (digits) jump(Number(digits));
    digits = "";
  };
  return (key) => {
    if (key === "Enter" && digits) {
      end();
      return true;
    }
    clearTimeout(timer);
    digits = /^[0-9]$/.test(key) ? (digits + key).slice(0, LONGEST) : "";
    if (digits) timer = setTimeout(end, TYPING_MS);
    return digits !== "";
  };
}

// What a key does: its name in keys, a letter's in either case, and with Shift the inner loop's.
export function actionOf(event, keys) {
  const name = keys[event.key] ?? keys[event.key.toLowerCase()];
  return event.shiftKey && (name === "back" || name === "forward") ? `inner-${name}` : name;
}
