// What is in pictures of each kind: axes, what is drawn by hand over uPlot's axes, what is near a place, the figures that
// the keyboard goes through (stops), and all figures as a table. All of it comes from the page's data.

const data = JSON.parse(document.getElementById("data").textContent);
const lookup = (path) => path.split("/").reduce((at, key) => at[key], data);
const SERIES = 6;

const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const colour = (place) => css(`--series-${(place % SERIES) + 1}`);
const isNumber = (value) => typeof value === "number" && Number.isFinite(value);

const four = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });
const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const plain = new Intl.NumberFormat("en", { maximumFractionDigits: 10 });

// A number as people read it: four digits that count, thousands apart.
const shown = (value) => {
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e12)) return value.toExponential(3);
  return (size >= 10000 ? whole : four).format(value);
};

// Round places between two ends of an axis.
function ticks(from, to, log, most) {
  if (!(to > from)) return [];
  if (log && to / from > 8) {
    const all = (factors) => {
      const found = [];
      for (let power = Math.floor(Math.log10(from)); power <= Math.ceil(Math.log10(to)); power++) {
        for (const factor of factors) {
          // Through text: 5 * 10 ** -2 is not 0.05.
          const at = Number(`${factor}e${power}`);
          if (at >= from * 0.999 && at <= to * 1.001) found.push(at);
        }
      }
      return found;
    };
    for (const factors of [[1, 2, 5], [1, 3]]) {
      const many = all(factors);
      if (many.length <= most) return many;
    }
    const few = all([1]);
    const step = Math.ceil(few.length / most);
    return few.filter((_, place) => place % step === 0);
  }
  const power = Math.floor(Math.log10((to - from) / most));
  const factor = [1, 2, 5, 10].find((factor) => (to - from) / Number(`${factor}e${power}`) <= most) ?? 10;
  const step = Number(`${factor}e${power}`);
  const found = [];
  for (let count = Math.ceil(from / step - 1e-6); count * step <= to + step * 1e-6; count++) {
    found.push(Number((count * step).toPrecision(12)));
  }
  return found;
}

const label = (at) => {
  const size = Math.abs(at);
  if (size !== 0 && (size < 1e-4 || size >= 1e10)) return at.toExponential();
  return plain.format(at);
};

// Labels of one axis, with as many decimals each.
const labels = (places) => {
  const texts = places.map(label);
  if (texts.some((words) => words.includes("e"))) return texts;
  const decimals = Math.max(...texts.map((words) => words.split(".")[1]?.length ?? 0), 0);
  return places.map((at) => at.toLocaleString("en", { minimumFractionDigits: decimals, maximumFractionDigits: decimals }));
};

// The unit in which times up to `most` seconds are numbers of a few digits.
const timeUnit = (most) =>
  most >= 1 ? [1, "s"] : most >= 1e-3 ? [1e3, "ms"] : most >= 1e-6 ? [1e6, "µs"] : [1e9, "ns"];

const FONT = "13px system-ui, sans-serif";
const ratio = () => uPlot.pxRatio;

function text(u, words, x, y, { fill = css("--ink"), align = "left", bold = false } = {}) {
  const { ctx } = u;
  ctx.font = `${bold ? "600 " : ""}${13 * ratio()}px system-ui, sans-serif`;
  ctx.textAlign = align;
  ctx.textBaseline = "alphabetic";
  ctx.lineJoin = "round";
  ctx.lineWidth = 4 * ratio();
  ctx.strokeStyle = css("--panel");
  ctx.strokeText(words, x, y);
  ctx.fillStyle = fill;
  ctx.fillText(words, x, y);
}

// As much of a text as has room.
function fitted(u, words, room) {
  u.ctx.font = `${13 * ratio()}px system-ui, sans-serif`;
  if (u.ctx.measureText(words).width <= room) return words;
  let length = words.length;
  while (length > 1 && u.ctx.measureText(words.slice(0, length) + "…").width > room) length--;
  return words.slice(0, length) + "…";
}

// A text behind a bar, or over its end where there is no room behind it.
function figureBehind(u, words, x, y) {
  u.ctx.font = `${13 * ratio()}px system-ui, sans-serif`;
  const most = u.bbox.left + u.bbox.width - u.ctx.measureText(words).width - 2 * ratio();
  text(u, words, Math.min(x, most), y);
}

function rule(u, from, to, stroke, dash = []) {
  const { ctx } = u;
  ctx.beginPath();
  ctx.lineWidth = 1.5 * ratio();
  ctx.setLineDash(dash.map((part) => part * ratio()));
  ctx.strokeStyle = stroke;
  ctx.moveTo(...from);
  ctx.lineTo(...to);
  ctx.stroke();
  ctx.setLineDash([]);
}

function clipped(u, draw) {
  const { ctx, bbox } = u;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  draw(ctx, bbox);
  ctx.restore();
}

// Curves.
function curves(chart) {
  const log = { x: chart.x.scale === "logarithmic", y: chart.y.scale === "logarithmic" };
  const has = ([x, y]) => isNumber(x) && isNumber(y) && (!log.x || x > 0) && (!log.y || y > 0);
  const lines = chart.lines.map((line) => ({ name: line.name, points: line.points.filter(has) }));
  const columns = lines.map(({ points }) => {
    const sorted = [...points].sort((a, b) => a[0] - b[0]);
    return [sorted.map((point) => point[0]), sorted.map((point) => point[1])];
  });
  const filled = columns.filter(([xs]) => xs.length > 0);
  const aligned = filled.length > 0 ? uPlot.join(filled) : [[chart.x.from, chart.x.to]];
  // A column for each line, also for one without points.
  let next = 1;
  const values = [aligned[0], ...columns.map(([xs]) => (xs.length > 0 ? aligned[next++] : aligned[0].map(() => null)))];
  // A line alone is what the axis counts.
  const name = (place) => lines[place].name || (lines.length > 1 ? `line ${place + 1}` : chart.y.name);
  const stops = lines
    .map(({ points }, place) =>
      points.map(([x, y]) => ({ x, y, text: () => `${name(place)}: ${shown(y)} at ${shown(x)}`, place })),
    )
    .concat(chart.marks.length > 0 ? [chart.marks.map(({ name, at: [x, y] }) => ({ x, y, text: () => name, place: 0 }))] : [])
    .filter((row) => row.length > 0);
  return {
    height: (width) => Math.round(Math.min(460, Math.max(280, width * 0.6))),
    x: { ...chart.x, log: log.x },
    y: { ...chart.y, log: log.y },
    values,
    legend: lines.length > 1 || lines.some((line) => line.name) ? lines.map((_, place) => name(place)) : [],
    series: lines.map((_, place) => ({
      scale: "y",
      stroke: () => colour(place),
      width: 2.5,
      spanGaps: true,
      pxAlign: 0,
      points: { show: lines[place].points.length <= 24, size: 7, fill: () => colour(place) },
    })),
    draw(u) {
      const { bbox } = u;
      const [right, bottom] = [bbox.left + bbox.width, bbox.top + bbox.height];
      clipped(u, (ctx) => {
        for (const { at } of chart.levels) {
          const y = u.valToPos(at, "y", true);
          rule(u, [bbox.left, y], [right, y], css("--soft"), [7, 4]);
        }
        for (const { at } of chart.walls) {
          const x = u.valToPos(at, "x", true);
          rule(u, [x, bbox.top], [x, bottom], css("--soft"), [2, 3]);
        }
        for (const { at } of chart.marks) {
          ctx.beginPath();
          ctx.fillStyle = css("--mark");
          ctx.arc(u.valToPos(at[0], "x", true), u.valToPos(at[1], "y", true), 6 * ratio(), 0, 7);
          ctx.fill();
        }
      });
      const room = bbox.width - 16 * ratio();
      const taken = [];
      const free = (y) => {
        while (taken.some((other) => Math.abs(other - y) < 16 * ratio())) y += 16 * ratio();
        taken.push(y);
        return y;
      };
      for (const { name, at } of chart.levels) {
        const y = u.valToPos(at, "y", true);
        if (y < bbox.top || y > bottom) continue;
        // Away from the middle, where the curves are.
        const above = y < bbox.top + bbox.height / 2 ? y - bbox.top > 20 * ratio() : bottom - y < 22 * ratio();
        text(u, fitted(u, name, room), right - 8 * ratio(), free(above ? y - 6 * ratio() : y + 17 * ratio()), { align: "right" });
      }
      let row = 0;
      for (const { name, at } of chart.walls) {
        const x = u.valToPos(at, "x", true);
        if (x < bbox.left || x > right) continue;
        const isLeft = x > bbox.left + bbox.width / 2;
        const y = bottom - (10 + 18 * row++) * ratio();
        text(u, fitted(u, name, room), isLeft ? x - 6 * ratio() : x + 6 * ratio(), y, { align: isLeft ? "right" : "left" });
      }
      // Names that would stand on others are told under the mouse and by keyboard only.
      const named = [];
      for (const { name, at } of chart.marks) {
        const [x, y] = [u.valToPos(at[0], "x", true), u.valToPos(at[1], "y", true)];
        if (x < bbox.left || x > right || y < bbox.top || y > bottom) continue;
        u.ctx.font = `600 ${13 * ratio()}px system-ui, sans-serif`;
        const half = u.ctx.measureText(name).width / 2;
        const at_x = Math.min(Math.max(x, bbox.left + half + 6 * ratio()), right - half - 6 * ratio());
        const above = y - 14 * ratio() > bbox.top + 14 * ratio();
        if (named.some(([left, top, width]) => Math.abs(left - at_x) < half + width && Math.abs(top - y) < 17 * ratio())) continue;
        named.push([at_x, y, half]);
        text(u, fitted(u, name, room), at_x, above ? y - 14 * ratio() : y + 24 * ratio(), { align: "center", bold: true, fill: css("--mark") });
      }
    },
    near(u, left, top) {
      return closest(u, stops.flat(), left, top, 40);
    },
    stops,
    table: () => ({
      columns: lines.length > 1 ? ["line", chart.x.name, chart.y.name] : [chart.x.name, chart.y.name],
      rows: lines.flatMap(({ points }, place) => points.map(([x, y]) => (lines.length > 1 ? [name(place), x, y] : [x, y]))),
    }),
  };
}

// The stop that is nearest to a place, and not far.
function closest(u, stops, left, top, far) {
  let [best, least] = [null, far * far];
  for (const stop of stops) {
    const dx = u.valToPos(stop.x, "x") - left;
    const dy = (stop.top ?? u.valToPos(stop.y, "y")) - top;
    const distance = dx * dx + dy * dy;
    if (distance < least) [best, least] = [stop, distance];
  }
  return best;
}

// Groups from top to bottom, each with its name above its lines: bars, intervals and rows of time.
function rows(names, counts, line) {
  let top = 4;
  const places = names.map((name, place) => {
    const at = top;
    top += 20 + counts[place] * line + 10;
    return { name, top: at, line: (number) => at + 20 + number * line };
  });
  return { places, height: top + 4 };
}

function rowNames(u, places) {
  const { bbox } = u;
  for (const { name, top } of places) {
    text(u, fitted(u, name, bbox.width - 4 * ratio()), bbox.left + 2 * ratio(), bbox.top + (top + 14) * ratio());
  }
}

// Space around the plot of a picture of rows: the axis below.
const AXIS = 56;

function bars(chart) {
  const has = (value) => isNumber(value) && value > 0;
  const groups = chart.groups.map((group) => ({
    name: group.name,
    values: group.values.slice(0, chart.series.length).map((value, place) => ({ value, place })).filter(({ value }) => has(value)),
  }));
  const layout = rows(groups.map((group) => group.name), groups.map((group) => group.values.length), 19);
  const most = Math.max(...groups.flatMap((group) => group.values.map(({ value }) => value)), Number.MIN_VALUE);
  const stops = groups.map(({ name, values }, group) =>
    values.map(({ value, place }, number) => ({
      x: value,
      top: layout.places[group].line(number) + 8,
      text: () => `${name}, ${chart.series[place]}: ${shown(value)}`,
      from: 0,
      place,
    })),
  ).filter((row) => row.length > 0);
  return {
    height: () => layout.height + AXIS,
    x: { name: "", from: 0, to: most * 1.12, log: false },
    legend: chart.series,
    draw(u) {
      clipped(u, (ctx, bbox) => {
        rowNames(u, layout.places);
        const zero = Math.max(u.valToPos(0, "x", true), bbox.left);
        for (const { x, top, place } of stops.flat()) {
          const [y, end] = [bbox.top + (top - 8) * ratio(), u.valToPos(x, "x", true)];
          ctx.fillStyle = colour(place);
          ctx.fillRect(zero, y, end - zero, 16 * ratio());
          figureBehind(u, shown(x), end + 6 * ratio(), y + 13 * ratio());
        }
      });
    },
    near: (u, left, top) => stops.flat().find((stop) => Math.abs(stop.top - top) <= 9) ?? null,
    stops,
    table: () => ({
      columns: ["row", ...chart.series],
      rows: chart.groups.map((group) => [group.name, ...chart.series.map((_, place) => group.values[place] ?? null)]),
    }),
  };
}

function intervals(chart) {
  const log = chart.scale === "logarithmic";
  const has = (value) => value && [value.middle, value.low, value.high].every((end) => isNumber(end) && (!log || end > 0));
  const groups = chart.groups.map((group) => ({
    name: group.name,
    values: group.values.slice(0, chart.series.length).map((value, place) => ({ value, place })).filter(({ value }) => has(value)),
  }));
  const layout = rows(groups.map((group) => group.name), groups.map((group) => group.values.length), 17);
  const ends = groups.flatMap((group) => group.values.flatMap(({ value }) => [value.low, value.middle, value.high]));
  if (isNumber(chart.level)) ends.push(chart.level);
  const [least, most] = [Math.min(...ends), Math.max(...ends)];
  const margin = (most - least) * 0.05;
  const stops = groups.map(({ name, values }, group) =>
    values.map(({ value, place }, number) => ({
      x: value.middle,
      value,
      top: layout.places[group].line(number) + 8,
      text: () => `${name}, ${chart.series[place]}: ${shown(value.middle)} (${shown(value.low)} to ${shown(value.high)})`,
      place,
    })),
  ).filter((row) => row.length > 0);
  return {
    height: () => layout.height + AXIS,
    x: { name: chart.axis, from: log ? least / 1.2 : least - margin, to: log ? most * 1.2 : most + margin, log },
    legend: chart.series,
    draw(u) {
      clipped(u, (ctx, bbox) => {
        if (isNumber(chart.level)) {
          const x = u.valToPos(chart.level, "x", true);
          rule(u, [x, bbox.top], [x, bbox.top + bbox.height], css("--soft"), [2, 3]);
        }
        rowNames(u, layout.places);
        for (const { value, top, place } of stops.flat()) {
          const y = bbox.top + top * ratio();
          ctx.strokeStyle = ctx.fillStyle = colour(place);
          ctx.lineWidth = 2 * ratio();
          ctx.beginPath();
          ctx.moveTo(u.valToPos(value.low, "x", true), y);
          ctx.lineTo(u.valToPos(value.high, "x", true), y);
          ctx.stroke();
          ctx.beginPath();
          ctx.arc(u.valToPos(value.middle, "x", true), y, 4.5 * ratio(), 0, 7);
          ctx.fill();
        }
      });
    },
    near: (u, left, top) => stops.flat().find((stop) => Math.abs(stop.top - top) <= 8) ?? null,
    stops,
    table: () => ({
      columns: ["row", ...chart.series.flatMap((name) => [name, `${name}, low`, `${name}, high`])],
      rows: chart.groups.map((group) => [
        group.name,
        ...chart.series.flatMap((_, place) => {
          const value = group.values[place];
          return value ? [value.middle, value.low, value.high] : [null, null, null];
        }),
      ]),
    }),
  };
}

function timeline(chart) {
  const spans = chart.tracks.flatMap((track) => track.spans);
  const kinds = [...new Set(spans.map((span) => span.name))];
  const from = spans.reduce((least, span) => Math.min(least, span.from_s), Infinity);
  const to = spans.reduce((most, span) => Math.max(most, span.to_s), -Infinity);
  const [scale, unit] = timeUnit(to - from);
  const at = (seconds) => (seconds - from) * scale;
  const layout = rows(chart.tracks.map((track) => track.name), chart.tracks.map(() => 1), 22);
  const stops = chart.tracks.map((track, row) =>
    track.spans.map((span) => ({
      x: (at(span.from_s) + at(span.to_s)) / 2,
      from: at(span.from_s),
      to: at(span.to_s),
      top: layout.places[row].line(0) + 11,
      text: () => `${track.name}: ${span.name}, ${shown(at(span.from_s))} to ${shown(at(span.to_s))} ${unit} (${shown((span.to_s - span.from_s) * scale)} ${unit})`,
      place: kinds.indexOf(span.name),
    })),
  ).filter((row) => row.length > 0);
  return {
    height: () => layout.height + AXIS,
    x: { name: `time, ${unit}`, from: 0, to: spans.length > 0 ? at(to) : 1, log: false },
    legend: kinds,
    draw(u) {
      clipped(u, (ctx, bbox) => {
        rowNames(u, layout.places);
        const colours = kinds.map((_, place) => colour(place));
        for (const { from, to, top, place } of stops.flat()) {
          const [x, end] = [u.valToPos(from, "x", true), u.valToPos(to, "x", true)];
          if (end < bbox.left || x > bbox.left + bbox.width) continue;
          ctx.fillStyle = colours[place];
          // A gap between neighbours where there is room for one.
          const gap = end - x > 4 * ratio() ? ratio() : 0;
          ctx.fillRect(x, bbox.top + (top - 11) * ratio(), Math.max(end - x - gap, 0.5), 20 * ratio());
        }
      });
    },
    near(u, left, top) {
      const x = u.posToVal(left, "x");
      const room = Math.abs(u.posToVal(left + 2, "x") - x);
      const row = stops.flat().filter((stop) => Math.abs(stop.top - top) <= 11);
      return row.find((stop) => stop.from - room <= x && x <= stop.to + room) ?? null;
    },
    stops,
    table: () => ({
      columns: ["row", "work", "from, s", "to, s"],
      rows: chart.tracks.flatMap((track) => track.spans.map((span) => [track.name, span.name, span.from_s, span.to_s])),
    }),
  };
}

const SKETCHES = { chart: curves, bars, intervals, timeline };
