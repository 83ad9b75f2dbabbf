// Keys are meant for the scene that the visitor is waiting for. Another scene comes seconds after the
// choice that asks for it; until then keys act on the scene that is still there, or on none. So the
// keys pressed since the last choice are recorded, and the scene that comes has them pressed again.
//
// Under load Streamlit may replace the player's element. The old player then hands its step and its
// record over to the new one. Where the new player's first scene is the one that the old player had
// drawn, it continues at that step: keys that took effect there are not pressed again, but stay
// recorded for another scene that may still come.
const LATE_MS = 20000; // after which a key is no longer for a scene that comes

export class Replay {
  #record = []; // the keys since the last choice: key, time in ms, and whether it took effect
  #handover = null; // from the player before this one: the order and step of its scene, its record
  #now;

  constructor(now = () => performance.now()) {
    this.#now = now;
  }

  // A key is an action's name, or the number of a step. It takes effect at once in a drawn scene.
  add(key, tookEffect) {
    this.#record.push({ key, time: this.#now(), tookEffect });
  }

  // The visitor has chosen something: what was pressed before is not for the scene that comes.
  forget() {
    this.#record = [];
  }

  // What the player after this one takes over; drawn is the order and step of the drawn scene, or null.
  handOver(drawn) {
    const before = this.#handover?.record ?? [];
    return { ...(drawn ?? this.#handover), record: [...before, ...this.#record] };
  }

  takeOver(handover) {
    this.#handover = handover;
  }

  // Another scene is drawn: the step that it is shown at, and the keys to press in it.
  open(order, start) {
    const { order: orderBefore, step, record } = this.#handover ?? { record: [] };
    const continues = orderBefore === order;
    const all = [...record, ...this.#record];
    const since = this.#now() - LATE_MS;
    const due = all.filter(({ time, tookEffect }) => time > since && !(continues && tookEffect));
    this.#handover = null;
    this.#record = continues ? all.map((one) => ({ ...one, tookEffect: true })) : [];
    return { step: continues ? step : start, keys: due.map(({ key }) => key) };
  }
}
