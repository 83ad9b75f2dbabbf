// What a scene's frames say at a step; nothing here knows of a page.

// Frames as ui/scene/packed_frames.py packs them: frames that share their texts and shapes.
export function unpackFrames({ steps, texts, shapes }) {
  let shown = [];
  return steps.map(([name, title, changedTexts, changedShapes, motions, level]) => {
    const [traces, data] = [[], []];
    for (let i = 0; i < changedTexts.length; i += 2) {
      traces.push(changedTexts[i]);
      data.push({ type: "scatter", text: texts[changedTexts[i + 1]] });
    }
    if (changedShapes.length) shown = [...shown];
    for (let i = 0; i < changedShapes.length; i += 2) {
      shown[changedShapes[i]] = shapes[changedShapes[i + 1]];
    }
    return { name, traces, data, motions, level, layout: { title: { text: title }, shapes: shown } };
  });
}

const histories = new WeakMap(); // of frames: for each trace, the frames that change it

// The texts of each changing trace at frame n: those of the last frame up to n that changes it.
export function textsAt(frames, n) {
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

const ENTITIES = { "&lt;": "<", "&gt;": ">", "&amp;": "&" };

export function decoded(text) {
  return text.replace(/&(lt|gt|amp);/g, (one) => ENTITIES[one]);
}

// A text of the figure without its markup.
export function plainText(text) {
  return decoded(text.replace(/<[^>]*>/g, ""));
}
