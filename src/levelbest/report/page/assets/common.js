/* Small parts that every picture uses. Everything from the data is set as text, never as markup. */
const byId = (id) => document.getElementById(id);
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const GREY = 6;
const DASHES = [[], [9, 3], [2, 3], [10, 3, 2, 3], [5, 2], [14, 4], []];
/* The colour of a family, by its place in the palette, and the dashes that tell lines apart where colours do not. */
const hueOf = (i) => view.families[i].hue;
const styleOf = (i) => ({ colour: css(`--c${hueOf(i)}`), dash: DASHES[hueOf(i)], grey: hueOf(i) === GREY });

function make(tag, attributes, ...inside) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {})) if (value !== null) node.setAttribute(key, value);
  node.append(...inside.map((part) => (part instanceof Node ? part : String(part))));
  return node;
}
function draw(tag, attributes, ...inside) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes || {})) if (value !== null) node.setAttribute(key, value);
  node.append(...inside);
  return node;
}
/* A template with its places filled: as text, or as parts, among which numbers stand for families. */
const filled = (template, given) => template.split(/\{(\w+)\}/).map((part, i) => (i % 2 ? given[part] : part)).flat().filter((part) => part !== "");
/* A long name without its middle: what tells names apart stands at either end. */
function cut(text, most) {
  const letters = [...text];
  return letters.length > most ? `${letters.slice(0, Math.ceil((most - 1) / 2)).join("")}…${most > 2 ? letters.slice(-Math.floor((most - 1) / 2)).join("") : ""}` : text;
}

const listed = (all) => (all.length < 2 ? all.join("") : `${all.slice(0, -1).join(", ")} and ${all[all.length - 1]}`);

/* Numbers: three digits for costs; for scores as many decimals as half the interval's width deserves. */
function three(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e-3 && size < 1e6) return value.toFixed(Math.max(0, 2 - Math.floor(Math.log10(size))));
  return value.toPrecision(3);
}
const known = (value) => value !== null && value !== undefined && Number.isFinite(value);
function decimalsOf(rows) {
  const halves = rows.filter((r) => known(r.low) && known(r.high) && r.high > r.low).map((r) => (r.high - r.low) / 2).sort((a, b) => a - b);
  if (halves.length) return Math.max(0, Math.min(12, 1 - Math.floor(Math.log10(halves[Math.floor((halves.length - 1) / 2)] * (1 + 1e-9)))));
  const sizes = rows.filter((r) => known(r.value) && r.value !== 0).map((r) => Math.abs(r.value));
  return sizes.length ? Math.max(0, Math.min(12, 3 - Math.floor(Math.log10(Math.max(...sizes))))) : 2;
}
const fixed = (value, places) => (known(value) ? value.toFixed(places).replace(/^-(0\.?0*)$/, "$1") : "–");

const SECONDS = { s: 1, sec: 1, seconds: 1, min: 60, minutes: 60, h: 3600, hours: 3600, d: 86400 };
function showBudget(value, axis, unit) {
  if (!known(value)) return "–";
  if (axis === "trials") return String(Math.round(value));
  if (SECONDS[unit]) {
    for (const [name, size] of [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]]) {
      if (value * SECONDS[unit] >= size || name === "s") return `${three(value * SECONDS[unit] / size)} ${name}`;
    }
  }
  return unit === "USD" ? `$${value.toFixed(2)}` : `${three(value)} ${unit || ""}`.trim();
}
/* A range of budgets; one that reads the same at both ends is one budget. */
function showRange(start, end, axis, unit) {
  const [from, to] = [showBudget(start, axis, unit), showBudget(end, axis, unit)];
  return from === to ? from : axis === "trials" ? `${from}–${to}` : `${from} – ${to}`;
}
/* Round budgets for the ticks, as many as there is room for; times in seconds, minutes, hours and days. */
function ticksOf(width, axis, unit, low, high, log) {
  const second = axis === "trials" ? 0 : 1 / (SECONDS[unit] || 0);
  const timed = Number.isFinite(second) && second > 0;
  const decades = (parts, every) => {
    const found = [];
    const start = Math.floor(Math.log10(log ? low : Math.max(1e-9, (high - low) / 1000))), end = Math.ceil(Math.log10(high));
    for (let e = start; e <= end; e++) if (e % every === 0) for (const part of parts) found.push(part * 10 ** e);
    return found;
  };
  const times = (parts, hours) => [
    ...decades([1, 2, 5], 1).filter((x) => x < second), ...parts.map((t) => t * second), ...parts.map((t) => 60 * t * second),
    ...hours.map((t) => 3600 * t * second), ...decades([1, 2, 5], 1).map((t) => 86400 * t * second).filter((t) => t >= 86400 * second),
  ];
  const place = log ? Math.log : (x) => x;
  const fits = (found) => found.length > 1 && found.every((x, i) =>
    i === 0 || ((place(x) - place(found[i - 1])) / (place(high) - place(low))) * width >= (axis === "trials" ? 34 : 62));
  const inside = (found) => [...new Set(found)].filter((x) => x >= low * (1 - 1e-9) && x <= high * (1 + 1e-9)
    && (axis !== "trials" || x % 1 === 0)).sort((p, q) => p - q);
  const candidates = log
    ? (timed ? [times([1, 2, 5, 10, 30], [1, 2, 5, 12]), times([1, 10], [1, 6]), times([1], [1])]
      : [decades([1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9], 1), decades([1, 1.5, 2, 3, 4, 5, 7], 1), decades([1, 2, 3, 5, 7], 1), decades([1, 2, 5], 1), decades([1, 3], 1), decades([1], 1), decades([1], 2), decades([1], 3)])
    : (timed ? times([1, 2, 5, 10, 15, 30], [1, 2, 3, 6, 12]) : decades([1, 2, 5], 1)).sort((p, q) => p - q)
      .filter((step) => (axis !== "trials" || step >= 1) && (high - low) / step < 200)
      .map((step) => Array.from({ length: Math.floor(high / step) + 1 }, (_, i) => i * step)).map((found) => (axis === "trials" ? [low, ...found.filter((x) => x > low * 1.5)] : found));
  const chosen = candidates.map(inside).find(fits) || [low, high];
  /* The last budget of all is worth a label, of its own or instead of the one before it. */
  const gap = (place(high) - place(chosen[chosen.length - 1])) / (place(high) - place(low)) * width;
  if (axis !== "trials" || high % 1 || gap === 0) return chosen;
  return [...(gap >= 34 || chosen.length < 3 ? chosen : chosen.slice(0, -1)), high];
}
const thousands = (value) => (value >= 1e6 ? `${Number((value / 1e6).toPrecision(3))}M` : value >= 1e4 ? `${Number((value / 1e3).toPrecision(3))}k` : String(value));
const tickText = (value, axis, unit) => (axis === "trials" ? thousands(Math.round(value)) : showBudget(value, axis, unit)).replace(/(\.\d*?)0+(?=$| )/, "$1").replace(/\.(?=$| )/, "");

/* The axes of a chart: budgets along the foot, scores at the side with no more digits than their step. */
function chartAxes(axis, unit, log, label) {
  const places = (step) => Math.min(12, (String(Number(step.toPrecision(3))).split(".")[1] || "").length);
  const round = (v) => [1, 2, 5].includes(Number((v / 10 ** Math.floor(Math.log10(v) + 1e-9)).toPrecision(4)));
  const exact = (v) => (Math.abs(v) >= 1e-3 || v === 0 ? String(Number(v.toPrecision(3))) : v.toExponential());
  return [
    { stroke: css("--soft"), grid: { show: false }, ticks: { stroke: css("--line"), size: 5 }, size: 34, font: "12px system-ui, sans-serif",
      filter: (_, found) => found,
      splits: (u, at, min, max) => ticksOf(u.bbox.width / devicePixelRatio, axis, unit, min, max, log),
      values: (_, found) => found.map((t) => tickText(t, axis, unit)) },
    { stroke: css("--soft"), grid: { stroke: css("--line"), width: 1 }, ticks: { show: false }, font: "12px system-ui, sans-serif",
      size: (u, values) => Math.max(34, 14 + 7 * Math.max(0, ...(values || []).map((v) => (v ? String(v).length : 0)))),
      values: (u, found, at, space, step) => (u.scales.y.distr === 3
        ? found.map((v) => (v === null || (found.filter((w) => w !== null && round(w)).length > 2 && !round(v)) ? null : exact(v))) : found.map((v) => v.toFixed(places(step)))) },
  ];
}
/* The room beside a chart for the names at the ends of its lines. */
function roomFor(names) {
  const c = document.createElement("canvas").getContext("2d");
  c.font = "600 12.5px system-ui, sans-serif";
  return Math.min(240, Math.ceil(Math.max(...names.map((name) => c.measureText(cut(name, 24)).width))) + 30);
}
/* Names where lines end, pushed apart so that none covers another; a thin line leads to one that was pushed. */
function labelEnds(u, ends) {
  const c = u.ctx, ratio = devicePixelRatio, gap = 15 * ratio, foot = u.bbox.top + u.bbox.height;
  const placed = ends.filter((end) => Number.isFinite(end.y)).sort((a, b) => a.y - b.y);
  placed.forEach((end) => { end.from = end.y; });
  placed.forEach((end, i) => { end.y = Math.max(end.y, i ? placed[i - 1].y + gap : u.bbox.top + gap / 2); });
  for (let i = placed.length - 1; i >= 0; i--) placed[i].y = Math.min(placed[i].y, i === placed.length - 1 ? foot : placed[i + 1].y - gap);
  c.save();
  c.textBaseline = "middle"; c.textAlign = "left"; c.font = `600 ${12.5 * ratio}px system-ui, sans-serif`;
  const edge = u.bbox.left + u.bbox.width, aside = placed.some((end) => Math.abs(end.y - end.from) > 4 * ratio) ? 16 * ratio : 0;
  for (const { name, colour, y, from, x = edge } of placed) {
    c.fillStyle = c.strokeStyle = colour;
    let most = 24;
    while (most > 4 && c.measureText(cut(name, most)).width > u.width * ratio - edge - aside - 7 * ratio) most -= 1;
    c.fillText(cut(name, most), edge + aside + 7 * ratio, y);
    if (aside) { c.lineWidth = 0.8 * ratio; c.setLineDash([]); c.beginPath(); c.moveTo(edge + 2 * ratio, from); c.lineTo(edge + aside + 4 * ratio, y); c.stroke(); }
    if (x < edge - 4 * ratio) { c.globalAlpha = 0.5; c.lineWidth = 0.8 * ratio; c.setLineDash([2 * ratio, 3 * ratio]); c.beginPath(); c.moveTo(x + 3 * ratio, from); c.lineTo(edge, from); c.stroke(); c.globalAlpha = 1; }
  }
  c.restore();
}
/* The shade of a band that is open at the top or the foot. */
function fading(u, colour, top) {
  const foot = u.bbox.top + u.bbox.height, shade = u.ctx.createLinearGradient(0, top ? u.bbox.top : foot, 0, top ? foot : u.bbox.top);
  shade.addColorStop(0, `${colour}00`); shade.addColorStop(0.75, `${colour}22`); shade.addColorStop(1, `${colour}22`);
  return shade;
}
