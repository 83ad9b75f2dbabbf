// Hands the frames of another page, which the player has asked for, on to it.
export default function ({ data }) {
  const detail = JSON.parse(new TextDecoder().decode(data));
  document.dispatchEvent(new CustomEvent("tilewise:frames", { detail }));
}
