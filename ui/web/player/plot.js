// A figure as Plotly's plot within a picture.
import { keepAsWritten } from "./plotly_nodes.js";

const CONFIG = { displayModeBar: false, responsive: false, doubleClick: false, scrollZoom: false };

// Plotly, which the page or one of its charts brings: as soon as it is there.
export async function plotly() {
  await window.bringPlotly?.().catch(() => {});
  return new Promise((resolve) => {
    const look = () => (window.Plotly ? resolve(window.Plotly) : setTimeout(look, 10));
    look();
  });
}

// Draw a figure beside the plot that is seen, with the CSS transform that it will have: the browser
// lays out texts anew where their scale has changed.
export async function drawPlot({ data, layout }, picture, transform) {
  const plot = document.createElement("div");
  plot.className = "plot coming";
  plot.style.transform = transform;
  picture.append(plot);
  await window.Plotly.newPlot(plot, data, layout, CONFIG);
  keepAsWritten(plot);
  return plot;
}

export function removePlot(plot) {
  plot.remove();
  window.Plotly.purge(plot);
}

// Save a plot at its own size, whatever the window's. Plotly's own download takes its file away at
// once, before a busy browser has read it.
export async function savePlot(plot, { width, height }, format, name) {
  const link = document.createElement("a");
  link.download = `${name}.${format}`;
  const scale = format === "png" ? 2 : 1;
  link.href = await window.Plotly.toImage(plot, { format, width, height, scale });
  link.click();
}
