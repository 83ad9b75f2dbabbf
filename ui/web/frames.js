// What a scene's frames say at a step, and where keys go; nothing here knows of a page.

// Frames as ui/scene/packed_frames.py packs them: frames that share their texts and shapes.
function unpackFrames({ steps, texts, shapes }) {
  let shown = [];
  return steps.map(([name, title, changedTexts, changedShapes, motions]) => {
    const [traces, data] = [[], []];
    for (let i = 0; i < changedTexts.length; i += 2) {
      traces.push(changedTexts[i]);
      data.push({ type: "scatter", text: texts[changedTexts[i + 1]] });
    }
    if (changedShapes.length) shown = [...shown];
    for (let i = 0; i < changedShapes.length; i += 2) {
      shown[changedShapes[i]] = shapes[changedShapes[i + 1]];
    }
    return { name, traces, data, motions, layout: { title: { text: title }, shapes: shown } };
  });
}

const histories = new WeakMap(); // of frames: for each trace, the frames that change it

// The texts of each changing trace at frame n: those of the last frame up to n that changes it.
function textsAt(frames, n) {
  let changes = histories.get(frames);
  if (!changes) {
    histories.set(frames, (changes = new Map()));
    frames.forEach((frame, at) => {
      (frame.traces ?? []).forEach((trace, i) => {
        if (!changes.has(trace)) changes.set(trace, []);
        changes.get(trace).push([at, frame.data[i].text]);
      });
    });
  }
  const texts = [];
  for (const [trace, history] of changes) {
    let low = 0;
    let high = history.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (history[middle][0] <= n) low = middle;
      else high = middle - 1;
    }
    texts.push([trace, history[low][1]]);
  }
  return texts;
}

// Where a loop's iteration, or a wait at a barrier, begins before or after a step.
function beyond(begins, step, forward, last) {
  if (forward) return begins.find((n) => n > step) ?? last;
  return begins.findLast((n) => n < step) ?? 0;
}

const STEP_KEYS = {
  ArrowLeft: "back", ArrowRight: "forward", PageUp: "outer-back", PageDown: "outer-forward",
  Home: "first", End: "last", " ": "play", b: "barrier", B: "barrier", ",": "part-back",
  ".": "part-forward",
};

const TYPING_MS = 800; // after which a number is complete
const LONGEST = 6; // digits of a number

// Takes keys one by one, and jumps to the number that digits make: with Enter, or after a pause.
// Returns whether a key was taken.
function numbers(jump) {
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

// What a key does: its name in keys, and with Shift the inner loop's.
function actionOf(event, keys) {
  const name = keys[event.key];
  return event.shiftKey && (name === "back" || name === "forward") ? `inner-${name}` : name;
}

const ENTITIES = { "&lt;": "<", "&gt;": ">", "&amp;": "&" };

function decoded(text) {
  return text.replace(/&(lt|gt|amp);/g, (one) => ENTITIES[one]);
}

// A text of the figure without its markup.
function plainText(text) {
  return decoded(text.replace(/<[^>]*>/g, ""));
}
