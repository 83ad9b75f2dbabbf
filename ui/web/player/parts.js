// The parts of a step's statement in a plot: one of them may stand out.
import { plainText } from "./frames.js";
import { markTexts } from "./plotly_nodes.js";

// The numbers of the traces with a meta: one, of two scenes beside each other two.
const tracesOf = (plot, meta) => plot.data.flatMap((one, i) => (one.meta === meta ? [i] : []));

// The texts that are drawn of each trace with a meta.
const textsOf = (plot, meta) => (
  tracesOf(plot, meta).map((i) => plot.data[i].text.filter((text) => text.trim()))
);

// How many parts the statement has, of two scenes the one with more.
export const countParts = (plot) => (
  Math.max(0, ...textsOf(plot, "parts").map((texts) => texts.length))
);

export const sentencesOf = (plot) => textsOf(plot, "sentence").flat().map(plainText).join(" ");

export const partText = (plot, part) => (
  textsOf(plot, "parts").map((texts) => plainText(texts[part] ?? "")).join(" ").trim()
);

// Let one part stand out, or with null none.
export function markPart(plot, part) {
  markTexts(plot, tracesOf(plot, "parts"), part, tracesOf(plot, "warp"));
}
