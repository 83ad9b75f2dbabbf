// Picks a cell, a line, or an order by clicks or keys: buttons, of which Python hears the choice.
export default function (component) {
  const { parentElement, data, setStateValue } = component;
  const root = parentElement.querySelector(".picker");
  const picked = [...(data.picked ?? [])];
  const isOrder = data.kind === "order";
  const draw = data.picture ? drawCells : drawButtons;

  function choose(i) {
    const at = picked.indexOf(i);
    if (!isOrder) picked.splice(0, picked.length, i);
    else if (at < 0) picked.push(i);
    else picked.splice(at, 1);
    draw();
    setStateValue("picked", [...picked]);
  }

  // Buttons within a picture: Tab reaches one of them, the arrow keys lead to the others.
  function drawCells() {
    root.className = `picker ${data.kind}`;
    if (root.dataset.drawn !== data.picture) {
      root.innerHTML = data.picture + '<p class="place" aria-live="polite"></p>';
      root.dataset.drawn = data.picture;
    }
    const cells = [...root.querySelectorAll(".cell")];
    const place = root.querySelector(".place");
    const tell = (i) => (place.textContent = cells[i]?.getAttribute("aria-label") ?? "Click a cell.");
    const reached = Math.max(0, cells.indexOf(document.activeElement), picked[0] ?? 0);
    cells.forEach((cell, i) => {
      cell.classList.toggle("right", data.right?.includes(i) ?? false);
      cell.setAttribute("aria-pressed", picked.includes(i));
      cell.setAttribute("aria-disabled", data.locked);
      cell.setAttribute("tabindex", i === reached ? 0 : -1);
      cell.onpointerenter = cell.onfocus = () => tell(i);
      cell.onpointerleave = () => tell(picked[0]);
      cell.onclick = () => data.locked || choose(i);
      cell.onkeydown = (event) => press(event, cells, i);
    });
    tell(picked[0]);
  }

  function press(event, cells, i) {
    const column = i % data.columns;
    const next = {
      ArrowLeft: column ? i - 1 : i, ArrowRight: column + 1 < data.columns ? i + 1 : i,
      ArrowUp: i - data.columns, ArrowDown: i + data.columns,
    }[event.key];
    if (next === undefined && event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    if (next === undefined) return void cells[i].onclick();
    if (!cells[next]) return;
    cells[i].setAttribute("tabindex", -1);
    cells[next].setAttribute("tabindex", 0);
    cells[next].focus();
  }

  function drawButtons() {
    const scrolled = root.scrollTop;
    const focused = [...root.querySelectorAll("button")].indexOf(document.activeElement);
    root.className = `picker ${data.kind}`;
    root.replaceChildren(...data.items.map((text, i) => {
      const button = document.createElement("button");
      const place = picked.indexOf(i);
      button.type = "button";
      button.disabled = data.locked;
      button.textContent = text || " ";
      button.setAttribute("aria-pressed", place >= 0);
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
