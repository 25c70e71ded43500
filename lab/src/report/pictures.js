// The titles in a picture's SVG are its figures. The mouse shows the nearest one, the arrow keys step through them.

function showFigures(figure) {
  const plot = figure.querySelector(".plot");
  const rows = [...plot.querySelectorAll(".row")]
    .map((row) => [...row.querySelectorAll("title")].map((title) => title.parentNode))
    .filter((row) => row.length > 0);
  if (rows.length === 0) return;
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  plot.after(tip);
  let [row, column, shown] = [0, -1, null];

  const show = (mark) => {
    shown?.classList.remove("at");
    shown = mark;
    tip.hidden = !mark;
    if (!mark) return;
    mark.classList.add("at");
    tip.textContent = mark.querySelector("title").textContent;
    const [box, room] = [mark.getBoundingClientRect(), figure.getBoundingClientRect()];
    const left = (box.left + box.right - tip.offsetWidth) / 2 - room.left;
    const above = box.top - room.top - tip.offsetHeight - 8;
    tip.style.left = `${Math.max(4, Math.min(left, room.width - tip.offsetWidth - 8))}px`;
    tip.style.top = `${above >= 0 ? above : box.bottom - room.top + 8}px`;
  };

  // The figure nearest to a point, if it is within 24 pixels.
  const near = (x, y) => {
    let [best, least] = [null, 24 ** 2];
    for (const mark of rows.flat()) {
      const { left, right, top, bottom } = mark.getBoundingClientRect();
      const [dx, dy] = [Math.max(left - x, x - right, 0), Math.max(top - y, y - bottom, 0)];
      // If the point is on several figures, the one with the nearest centre.
      const distance = dx * dx + dy * dy + 1e-3 * Math.hypot((left + right) / 2 - x, (top + bottom) / 2 - y);
      if (distance < least) [best, least] = [mark, distance];
    }
    return best;
  };

  const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  plot.addEventListener("keydown", (event) => {
    if (event.key === "Escape") show(null);
    if (!moves[event.key] || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const [along, across] = moves[event.key];
    row = (row + across + rows.length) % rows.length;
    column = Math.min(Math.max(column + along, 0), rows[row].length - 1);
    rows[row][column].scrollIntoView({ block: "nearest", inline: "nearest" });
    show(rows[row][column]);
    document.getElementById("live").textContent = tip.textContent;
  });
  plot.addEventListener("blur", () => show(null));
  plot.addEventListener("mousemove", (event) => show(near(event.clientX, event.clientY)));
  plot.addEventListener("mouseleave", () => show(null));
  plot.classList.add("has-figures");
  plot.tabIndex = 0;
  plot.setAttribute("role", "group");
  plot.setAttribute("aria-label", `Chart: ${figure.querySelector("figcaption").textContent}. Arrow keys read out its figures.`);
}
