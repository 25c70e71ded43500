// Tables of the page: sorting by column, copying as CSV, and showing the samples of a row on demand.

const data = JSON.parse(document.getElementById("data").textContent);
const lookup = (path) => path.split("/").reduce((at, key) => at[key], data);

// Compares cells by number if they have one, otherwise by text. Empty cells are always last.
function order(one, other, direction) {
  const value = (cell) => (cell?.dataset.value !== undefined ? Number(cell.dataset.value) : null);
  const [a, b] = [value(one), value(other)];
  if (a !== null && b !== null) return (a - b) * direction;
  const [s, t] = [one?.textContent ?? "", other?.textContent ?? ""];
  if (s === "" || t === "") return (s === "") - (t === "");
  if ((a === null) !== (b === null)) return a === null ? 1 : -1;
  return s.localeCompare(t, "en", { numeric: true }) * direction;
}

function sortBy(table, column) {
  const heads = [...table.tHead.rows[0].cells];
  const direction = heads[column].getAttribute("aria-sort") === "ascending" ? -1 : 1;
  for (const head of heads) head.removeAttribute("aria-sort");
  heads[column].setAttribute("aria-sort", direction === 1 ? "ascending" : "descending");
  closeStrips(table);
  const rows = [...table.tBodies[0].rows];
  rows.sort((one, other) => order(one.cells[column], other.cells[column], direction));
  table.tBodies[0].append(...rows);
  const name = heads[column].querySelector("button").textContent.trim();
  document.getElementById("live").textContent = `Sorted by ${name}, ${direction === 1 ? "ascending" : "descending"}`;
}

// CSV: texts unchanged, numbers with all digits, the ends of intervals in separate columns.
function csv(table) {
  const field = (text) => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const heads = [...table.tHead.rows[0].cells].filter((head) => !head.classList.contains("act"));
  const rows = [...table.tBodies[0].rows].filter((row) => !row.classList.contains("strip"));
  const hasInterval = heads.map((_, column) => rows.some((row) => row.cells[column]?.dataset.low !== undefined));
  const names = heads.flatMap((head, column) => {
    const unit = head.dataset.unit ? `, ${head.dataset.unit}` : "";
    const name = head.querySelector("button").textContent.trim() + unit;
    return hasInterval[column] ? [name, `${name}, low`, `${name}, high`] : [name];
  });
  const lines = rows.map((row) =>
    heads.flatMap((_, column) => {
      const { dataset, textContent } = row.cells[column] ?? { dataset: {}, textContent: "" };
      const value = dataset.copy === "text" ? textContent : (dataset.value ?? textContent);
      return hasInterval[column] ? [value, dataset.low ?? "", dataset.high ?? ""] : [value];
    }),
  );
  return [names, ...lines].map((line) => line.map(field).join(",")).join("\r\n") + "\r\n";
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // In some browsers, pages from files have no clipboard. Then a text is selected and copied.
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "visually-hidden";
    document.body.append(area);
    area.select();
    const isDone = document.execCommand("copy");
    area.remove();
    return isDone;
  }
}

function enhance(outer) {
  const table = outer.querySelector("table");
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    const note = head.querySelector(".note");
    note?.remove();
    button.append(...head.childNodes);
    button.addEventListener("click", () => sortBy(table, column));
    head.append(button, ...(note ? [note] : []));
  });
  if (table.dataset.samples) offerSamples(table, lookup(table.dataset.samples));
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy as CSV";
  button.setAttribute("aria-label", `Copy as CSV: ${table.caption.textContent}`);
  button.addEventListener("click", async () => {
    const isDone = await copy(csv(table));
    button.textContent = isDone ? "Copied" : "Not copied: the browser refused";
    document.getElementById("live").textContent = button.textContent;
    button.focus();
    setTimeout(() => (button.textContent = "Copy as CSV"), 2500);
  });
  outer.append(button);
  // Where scroll bars are hidden, a table that is cut off at its edge looks complete.
  const more = document.createElement("span");
  more.className = "more";
  outer.append(more);
  const scroll = outer.querySelector(".scroll");
  const markEdges = () => {
    const [isWide, isHigh] = [scroll.scrollWidth > scroll.clientWidth + 1, scroll.scrollHeight > scroll.clientHeight + 1];
    more.hidden = !isWide && !isHigh;
    more.textContent = `Scroll the table for more ${isWide && isHigh ? "columns and rows" : isWide ? "columns" : "rows"}.`;
  };
  new ResizeObserver(markEdges).observe(scroll);
}

function closeStrips(table) {
  for (const strip of table.querySelectorAll("tr.strip")) strip.remove();
  for (const button of table.querySelectorAll("td.act button")) button.setAttribute("aria-expanded", "false");
}

// A button for each row of a record, in a separate column.
function offerSamples(table, rows) {
  const head = document.createElement("th");
  head.scope = "col";
  head.className = "act";
  head.textContent = "samples";
  table.tHead.rows[0].append(head);
  [...table.tBodies[0].rows].forEach((line, place) => {
    const cell = line.insertCell();
    cell.className = "act";
    const row = rows[place];
    if (row.samples.length === 0) return;
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = String(row.samples.length);
    button.setAttribute("aria-expanded", "false");
    button.setAttribute("aria-label", `${row.samples.length} samples of ${row.name} ${row.direction}, ${row.workload}`);
    button.addEventListener("click", () => {
      const isOpen = button.getAttribute("aria-expanded") === "true";
      button.setAttribute("aria-expanded", String(!isOpen));
      if (isOpen) line.nextElementSibling.remove();
      else line.after(stripRow(row, line.cells.length));
    });
    cell.append(button);
  });
}

const isNumber = (value) => typeof value === "number" && Number.isFinite(value);

// Formats a number for people: four significant digits, no decimals from 10,000 on, thousands separated.
function shown(value) {
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e12)) return value.toExponential(3);
  return value.toLocaleString("en", size >= 10000 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 4 });
}

// Below a row: its samples, and the ratios of its pairs, each in order of time.
function stripRow(row, columns) {
  const line = document.createElement("tr");
  line.className = "strip";
  const cell = line.insertCell();
  cell.colSpan = columns;
  const inner = document.createElement("div");
  const [scale, unit] = row.bytes_per_s === undefined ? [1, "/s"] : [1e-9, " GB/s"];
  inner.append(strip("our rate", row.samples.map((sample) => sample * scale), (row.bytes_per_s ?? row.per_s) * scale, unit));
  for (const [peer, against] of Object.entries(row.against)) {
    if (against.pairs.length > 0) {
      const ratios = against.pairs.map(([ours, theirs]) => ours / theirs);
      inner.append(strip(`ratio to ${peer} ${against.version}`, ratios, against.ratio, "×"));
    }
  }
  cell.append(inner);
  return line;
}

// Dots in order of time from left to right, the least at the bottom and the largest at the top; the median is a line.
function strip(name, samples, median, unit) {
  const [width, height, edge] = [320, 90, 6];
  const [least, most] = samples.reduce(([least, most], value) => [Math.min(least, value), Math.max(most, value)], [Infinity, -Infinity]);
  const y = (value) => height - edge - (most > least ? (value - least) / (most - least) : 0.5) * (height - 2 * edge);
  const draw = (kind, attributes) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", kind);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  };
  const words = `${name}: median ${shown(median)}${unit}, ${shown(least)} to ${shown(most)}${unit} in ${samples.length} samples`;
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": words });
  if (isNumber(median)) svg.append(draw("line", { class: "median", x1: 0, x2: width, y1: y(median), y2: y(median) }));
  samples.forEach((value, place) => {
    const x = edge + (place / Math.max(samples.length - 1, 1)) * (width - 2 * edge);
    svg.append(draw("circle", { cx: x.toFixed(1), cy: y(value).toFixed(1), r: 2.2 }));
  });
  const [figure, caption] = [document.createElement("figure"), document.createElement("figcaption")];
  caption.textContent = words;
  figure.append(caption, svg);
  return figure;
}
