// A Chart draws the sketch of one figure.chart with uPlot, in place of its still picture; it zooms, pans and tells figures by
// mouse and by keyboard.

class Chart {
  constructor(figure) {
    this.figure = figure;
    this.drawing = lookup(figure.dataset.source)[figure.dataset.kind];
    this.sketch = SKETCHES[figure.dataset.kind](this.drawing);
    this.title = figure.querySelector("figcaption").textContent;
    this.stop = null;
    this.reset();
    this.build();
  }

  reset() {
    const { x, y } = this.sketch;
    this.view = { x: [x.from, x.to], y: y ? [y.from, y.to] : [0, 1] };
  }

  build() {
    const element = (name, className, words = "") => {
      const made = document.createElement(name);
      made.className = className;
      made.textContent = words;
      return made;
    };
    this.plot = element("div", "plot");
    this.plot.tabIndex = 0;
    this.plot.setAttribute("role", "group");
    this.plot.setAttribute("aria-label", `Chart: ${this.title}. Arrow keys read out its figures, plus and minus zoom, zero resets the view.`);
    this.tip = element("div", "tip");
    this.tip.hidden = true;
    const controls = element("div", "controls");
    const control = (words, name, act) => {
      const button = element("button", "", words);
      button.type = "button";
      button.setAttribute("aria-label", `${name}: ${this.title}`);
      button.title = name;
      button.addEventListener("click", act);
      controls.append(button);
    };
    control("+", "Zoom in", () => this.zoom(0.5));
    control("−", "Zoom out", () => this.zoom(2));
    control("Reset", "Reset the zoom", () => this.show(() => this.reset()));
    controls.append(element("span", "hint", "Zoom: drag, Ctrl + wheel, or + − 0. Arrow keys: read values."));
    this.still = this.figure.querySelector(".still");
    this.figure.insertBefore(this.plot, this.still);
    const legend = this.legend(element);
    this.figure.insertBefore(controls, this.plot);
    if (legend) this.figure.insertBefore(legend, this.plot);
    this.figure.append(this.details(element));
    this.figure.classList.add("is-drawn");
    this.plot.addEventListener("keydown", (event) => this.key(event));
    this.plot.addEventListener("blur", () => (this.tip.hidden = true));
    new ResizeObserver(() => this.resize()).observe(this.plot);
  }

  // Draws it, once: pictures far away are drawn when the reader comes near them. Their room is there from the start.
  draw() {
    if (this.u) return;
    this.u = new uPlot(this.options(), this.sketch.values ?? [[this.sketch.x.from, this.sketch.x.to]], this.plot);
    this.u.over.append(this.tip);
    this.u.over.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.u.over.addEventListener("dblclick", () => this.show(() => this.reset()));
  }

  legend(element) {
    const names = this.sketch.legend;
    if (names.length === 0) return null;
    const list = element("ul", "legend");
    names.forEach((name, place) => {
      const item = element("li", "");
      const swatch = element("span", `swatch series-${(place % SERIES) + 1}`);
      if (this.sketch.series) {
        const button = element("button", "");
        button.type = "button";
        button.setAttribute("aria-pressed", "true");
        button.append(swatch, name);
        button.addEventListener("click", () => {
          const show = button.getAttribute("aria-pressed") !== "true";
          button.setAttribute("aria-pressed", String(show));
          this.draw();
          this.u.setSeries(place + 1, { show });
        });
        item.append(button);
      } else {
        item.append(swatch, name);
      }
      list.append(item);
    });
    return list;
  }

  // The figures as a table, made when somebody wants it.
  details(element) {
    const details = element("details", "figures");
    details.append(element("summary", "", "Figures as a table"));
    details.addEventListener("toggle", () => {
      if (details.open && details.children.length === 1) {
        const { columns, rows } = this.sketch.table();
        details.append(makeTable(this.title, columns, rows));
      }
    });
    return details;
  }

  options() {
    const { x, y, series } = this.sketch;
    const width = this.plot.clientWidth;
    const places = (spec, from, to, room) => ticks(from, to, spec.log, Math.max(3, Math.floor(room)));
    const texts = (spec, splits) => (spec.log ? splits.map(label) : labels(splits));
    // Half of the longest label of the axis below: the last one may stand at the very end of it.
    const overhang = (least) => (u) => {
      const shown = texts(x, places(x, ...this.view.x, u.width / 90));
      return Math.max(least, ...shown.map((words) => words.length * 4.2 + 4));
    };
    const axis = (side, spec) => ({
      scale: side === 2 ? "x" : "y",
      side,
      label: spec.name || undefined,
      labelFont: FONT,
      labelSize: 22,
      font: FONT,
      stroke: () => css("--soft"),
      grid: { stroke: () => css("--grid"), width: 1 },
      ticks: { stroke: () => css("--grid"), width: 1, size: 5 },
      splits: (u, _, from, to) => places(spec, from, to, side === 2 ? u.width / 90 : u.height / 55),
      values: (_, splits) => texts(spec, splits),
      filter: (_, splits) => splits,
      size: side === 2 ? 32 : (u, values) => 16 + Math.max(...(values ?? [""]).map((value) => value.length)) * 7.6,
    });
    return {
      width,
      height: this.sketch.height(width),
      padding: [10, overhang(18), 0, y ? 0 : overhang(12)],
      legend: { show: false },
      scales: {
        x: { time: false, distr: x.log ? 3 : 1, range: () => this.view.x },
        y: { distr: y?.log ? 3 : 1, range: () => this.view.y },
      },
      axes: y ? [axis(2, x), axis(3, y)] : [axis(2, x), { show: false }],
      series: [{}, ...(series ?? [])],
      cursor: {
        drag: { x: true, y: Boolean(y), uni: 30, setScale: false },
        points: { show: false },
        y: Boolean(y),
      },
      hooks: {
        draw: [(u) => this.sketch.draw(u)],
        setSelect: [(u) => this.select(u)],
        setCursor: [(u) => this.hover(u)],
      },
    };
  }

  resize() {
    const width = this.plot.clientWidth;
    const height = this.sketch.height(width);
    this.plot.style.minHeight = `${height}px`;
    if (this.u && width > 0 && width !== this.u.width) this.u.setSize({ width, height });
  }

  // Changes the view and draws it.
  show(change) {
    this.draw();
    change();
    this.tip.hidden = true;
    this.u.batch(() => {
      this.u.setScale("x", { min: this.view.x[0], max: this.view.x[1] });
      this.u.setScale("y", { min: this.view.y[0], max: this.view.y[1] });
    });
  }

  // One axis's view with `centre` (from 0 to 1) kept in its place, moved by a part of its length, inside the whole.
  moved(axis, factor, centre, shift) {
    const spec = this.sketch[axis];
    if (!spec) return this.view[axis];
    const [there, back] = spec.log ? [Math.log, Math.exp] : [(value) => value, (value) => value];
    const [from, to] = this.view[axis].map(there);
    const [least, most] = [there(spec.from), there(spec.to)];
    const length = Math.min((to - from) * factor, most - least);
    let start = from + (to - from) * centre - length * centre + length * shift;
    start = Math.min(Math.max(start, least), most - length);
    if (length >= most - least) return [spec.from, spec.to];
    // Not so near that no digits are left.
    return length > (most - least) * 1e-6 ? [back(start), back(start + length)] : this.view[axis];
  }

  zoom(factor, x = 0.5, y = 0.5) {
    this.show(() => (this.view = { x: this.moved("x", factor, x, 0), y: this.moved("y", factor, y, 0) }));
  }

  pan(x, y) {
    this.show(() => (this.view = { x: this.moved("x", 1, 0.5, x), y: this.moved("y", 1, 0.5, y) }));
  }

  select(u) {
    const { left, top, width, height } = u.select;
    if (width < 5 && height < 5) return;
    const view = { ...this.view };
    if (width >= 5) view.x = [u.posToVal(left, "x"), u.posToVal(left + width, "x")];
    if (this.sketch.y && height >= 5 && height < u.over.clientHeight - 1) {
      view.y = [u.posToVal(top + height, "y"), u.posToVal(top, "y")];
    }
    u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.show(() => (this.view = view));
  }

  wheel(event) {
    // Otherwise the wheel is the page's.
    if (!event.ctrlKey && !event.metaKey && document.activeElement !== this.plot) return;
    event.preventDefault();
    const box = this.u.over.getBoundingClientRect();
    this.zoom(event.deltaY < 0 ? 0.8 : 1.25, (event.clientX - box.left) / box.width, 1 - (event.clientY - box.top) / box.height);
  }

  hover(u) {
    const { left, top } = u.cursor;
    if (left < 0 || top < 0) {
      this.tip.hidden = true;
      return;
    }
    const stop = this.sketch.near(u, left, top);
    if (stop) this.tell(stop);
    else this.tip.hidden = true;
  }

  // Shows a figure beside its place.
  tell(stop) {
    const { u, tip } = this;
    tip.textContent = stop.text();
    tip.hidden = false;
    const x = u.valToPos(Math.min(Math.max(stop.x, this.view.x[0]), this.view.x[1]), "x");
    const y = stop.top ?? u.valToPos(Math.min(Math.max(stop.y, this.view.y[0]), this.view.y[1]), "y");
    const left = Math.min(Math.max(x - tip.offsetWidth / 2, 0), u.over.clientWidth - tip.offsetWidth);
    const above = y - tip.offsetHeight - 12;
    tip.style.left = `${left}px`;
    tip.style.top = `${above >= 0 ? above : y + 14}px`;
  }

  // The next figure along a line or to another line.
  step(along, across) {
    const { stops } = this.sketch;
    if (stops.length === 0) return;
    let [row, column] = this.stop ?? [0, along > 0 ? -1 : 0];
    row = (row + across + stops.length) % stops.length;
    column = Math.min(Math.max(column + along, 0), stops[row].length - 1);
    this.stop = [row, column];
    const stop = stops[row][column];
    if (stop.x < this.view.x[0] || stop.x > this.view.x[1]) this.show(() => this.reset());
    this.tell(stop);
    document.getElementById("live").textContent = stop.text();
  }

  key(event) {
    this.draw();
    if (event.target !== this.plot || event.altKey || event.ctrlKey || event.metaKey) return;
    const shift = event.shiftKey && event.key.startsWith("Arrow");
    const acts = {
      "+": () => this.zoom(0.5),
      "=": () => this.zoom(0.5),
      "-": () => this.zoom(2),
      0: () => this.show(() => this.reset()),
      Escape: () => this.show(() => this.reset()),
      ArrowLeft: () => (shift ? this.pan(-0.2, 0) : this.step(-1, 0)),
      ArrowRight: () => (shift ? this.pan(0.2, 0) : this.step(1, 0)),
      ArrowUp: () => (shift ? this.pan(0, 0.2) : this.step(0, -1)),
      ArrowDown: () => (shift ? this.pan(0, -0.2) : this.step(0, 1)),
    };
    const act = acts[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }
}
