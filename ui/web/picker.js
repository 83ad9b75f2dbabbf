// Picks a cell, a line, or an order by clicks or keys: buttons, of which Python hears the choice.
export default function (component) {
  const { parentElement, data, setStateValue } = component;
  const root = parentElement.querySelector(".picker");
  const picked = [...(data.picked ?? [])];
  const isOrder = data.kind === "order";

  function choose(i) {
    const at = picked.indexOf(i);
    if (!isOrder) picked.splice(0, picked.length, i);
    else if (at < 0) picked.push(i);
    else picked.splice(at, 1);
    draw();
    setStateValue("picked", [...picked]);
  }

  function draw() {
    const scrolled = root.scrollTop;
    const focused = [...root.querySelectorAll("button")].indexOf(document.activeElement);
    root.className = `picker ${data.kind}`;
    root.style.setProperty("--columns", data.columns ?? 1);
    root.replaceChildren(...data.items.map((text, i) => {
      const button = document.createElement("button");
      const place = picked.indexOf(i);
      button.type = "button";
      button.disabled = data.locked;
      button.textContent = text || " ";
      button.setAttribute("aria-pressed", place >= 0);
      if (data.labels) button.setAttribute("aria-label", data.labels[i]);
      if (isOrder) button.dataset.place = place < 0 ? "" : place + 1;
      if (data.right?.includes(i)) button.classList.add("right");
      button.onclick = () => choose(i);
      return button;
    }));
    root.scrollTop = scrolled;
    if (focused >= 0) root.querySelectorAll("button")[focused]?.focus();
  }
  draw();
}
