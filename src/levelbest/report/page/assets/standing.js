/* Who stands where at one budget, as a table with a forest plot; and the matrix of pairs with its difference chart. */

/* The place of a budget in a line: the last point at or below it. */
function pointAt(line, x) {
  let place = -1;
  for (let i = 0; i < line.x.length && line.x[i] <= x * (1 + 1e-12); i++) place = i;
  return x > line.x[line.x.length - 1] * (1 + 1e-9) ? -1 : place;
}
/* The verdict of a pair at a budget; where two ranges of cost meet, the one that decides. */
function codeAt(pair, x) {
  const here = pair.ranges.filter(([start, end]) => start <= x * (1 + 1e-12) && x <= end * (1 + 1e-12)).map((range) => range[2]);
  return here.find((code) => code >= 0) ?? here[0] ?? APART;
}
function standingAt(s, kind, x) {
  const beats = new Map(), beaten = new Set();
  let pairs = 0, apart = 0;
  for (const pair of kind.pairs) {
    const [a, b] = pair.of, code = codeAt(pair, x);
    if (!s.shown.has(a) || !s.shown.has(b)) continue;
    pairs += 1;
    if (code === APART) apart += 1;
    if (code >= 0) { const other = code === a ? b : a; beats.set(code, [...(beats.get(code) || []), other]); beaten.add(other); }
  }
  const rows = kind.lines.filter((line) => s.shown.has(line.family)).map((line) => {
    const i = pointAt(line, x);
    const [value, low, high] = i < 0 ? [null, null, null] : [line.value[i], line.low[i], line.high[i]];
    return { family: line.family, value, low, high, beyond: i < 0, beats: beats.get(line.family) || [] };
  });
  const sign = view.direction === "max" ? -1 : 1;
  rows.sort((p, q) => (known(p.value) ? (known(q.value) ? sign * (p.value - q.value) : -1) : known(q.value) ? 1 : 0));
  return { rows, pairs, apart, beaten };
}
/* One line on the families that none is better than. */
function standingText({ rows, pairs, apart, beaten }) {
  const n = rows.length, full = n > 1 && pairs === (n * (n - 1)) / 2;
  if (!pairs || !full) return [];
  if (apart === pairs) return sayParts("no_pair");
  const best = rows.find((row) => row.beats.length === n - 1);
  if (best) return n > 2 ? sayParts("best_of_all", { name: best.family, count: String(n - 1) })
    : sayParts("best_of_two", { name: best.family, other: view.families[rows.find((r) => r !== best).family].name });
  const left = rows.filter((row) => !beaten.has(row.family));
  if (!left.length || left.length === n) return sayParts(n > 2 ? "no_best" : "open");
  if (left.length > 5) return sayParts("best_among_many", { count: String(left.length) });
  return sayParts("best_among", { names: left.flatMap((row, i) => [...(i === 0 ? [] : [i === left.length - 1 ? " or " : ", "]), row.family]) });
}
const coloured = (i) => make("b", { class: `f${hueOf(i)}` }, view.families[i].name);
const dotted = (i, most = 22) => [make("i", { class: `dot f${hueOf(i)}`, "aria-hidden": "true" }), cut(view.families[i].name, most)];

let fades = 0;
/* A dot with its interval; towards a limit that does not exist the bar fades and ends in an arrowhead. */
function forest(row, scale, best) {
  const holder = draw("svg", { "aria-hidden": "true" }), hue = hueOf(row.family);
  const place = (v) => 100 * Math.max(0, Math.min(1, (v - scale[0]) / (scale[1] - scale[0]))), at = (v) => `${place(v).toFixed(2)}%`;
  if (known(best)) holder.append(draw("line", { x1: at(best), x2: at(best), y1: 0, y2: 20, class: "best" }));
  const bar = (from, to, fill) => holder.append(draw("rect", { x: at(from), y: 7, width: `${Math.max(0, place(to) - place(from)).toFixed(2)}%`, height: 4, rx: 2, class: fill ? "limits" : `limits p${hue}`, fill: fill || null }));
  if (known(row.value) && !row.beyond) {
    bar(row.low ?? row.value, row.high ?? row.value);
    for (const [limit, end, from, to] of [[row.low, scale[0], 1, 0], [row.high, scale[1], 0, 1]]) {
      if (known(limit)) continue;
      const id = `fade-${++fades}`;
      holder.append(draw("defs", {}, draw("linearGradient", { id, x1: from, x2: to }, draw("stop", { offset: 0, class: `s${hue}` }), draw("stop", { offset: 1, class: `s${hue}`, "stop-opacity": 0 }))));
      bar(Math.min(row.value, end), Math.max(row.value, end), `url(#${id})`);
      holder.append(draw("svg", { x: to ? "100%" : "0", y: 4, width: 10, height: 10, overflow: "visible" }, draw("path", { d: to ? "M-5 1L-1 5L-5 9" : "M5 1L1 5L5 9", class: `end q${hue}` })));
    }
    holder.append(draw("circle", { cx: at(row.value), cy: 9, r: 4.2, class: `p${hue}` }));
  }
  return holder;
}
function scaleOf(rows) {
  const values = rows.map((r) => r.value).filter(known);
  if (!values.length) return [0, 1];
  const limits = rows.flatMap((r) => [r.low, r.high]).filter(known);
  const low = Math.min(...values), high = Math.max(...values);
  const room = Math.max(high - low, 1e-12 * Math.abs(high), 1e-300);
  const widths = rows.filter((r) => known(r.low) && known(r.high)).map((r) => r.high - r.low).sort((a, b) => a - b);
  const wide = Math.max(room, 2 * (widths[Math.floor(widths.length / 2)] || 0));
  const ends = [Math.max(low - wide, Math.min(low, ...limits)), Math.min(high + wide, Math.max(high, ...limits))];
  const pad = 0.03 * (ends[1] - ends[0] || 1);
  return [ends[0] - pad, ends[1] + pad];
}
function fillStanding(table, s, kind, x, text) {
  const standing = standingAt(s, kind, x), { rows } = standing;
  const places = decimalsOf(rows), scale = scaleOf(rows), cells = (...all) => make("tr", {}, ...all);
  const compared = standing.pairs > 0;
  const head = [[say("family"), ""], [s.axis === "trials" && x === 1 ? say("one") : say("best_of", { budget: text }), "n"], ["", "forest"], [say("band"), "n", say("band_means")],
    ...(view.facts ? view.facts.heads.map((name) => [name, "n minor"]) : []), ...(compared ? [[say("better_than"), "minor"]] : [])];
  const body = rows.map((row) => {
    const limits = row.beyond ? say("beyond") : !known(row.low) && !known(row.high) ? say("no_limits")
      : `${known(row.low) ? fixed(row.low, places) : say("no_low")} – ${known(row.high) ? fixed(row.high, places) : say("no_high")}`;
    const most = s.shown.size - 1, names = row.beats.map((i) => view.families[i].name);
    const better = !names.length ? "–" : most === 1 || names.length <= 2 && most > 2 && names.join("").length < 30 ? names.join(", ") : say("share", { count: names.length, total: most });
    const one = view.families[row.family];
    return cells(make("th", { scope: "row", class: "name", title: one.name }, ...dotted(row.family, table.clientWidth < 400 ? 12 : rows.length > 9 ? 16 : 20)), make("td", { class: "n" }, fixed(row.value, places)),
      make("td", { class: "forest" }, forest(row, scale, rows[0].value)), make("td", { class: "n soft" }, limits),
      ...(view.facts ? view.facts.rows[row.family].map((text) => make("td", { class: "n minor" }, text)) : []),
      ...(compared ? [make("td", { class: "minor", title: names.length ? names.join(", ") : null }, better)] : []));
  });
  table.replaceChildren(make("thead", {}, cells(...head.map(([name, kind, means]) => make(name ? "th" : "td", { ...(name ? { scope: "col" } : {}), class: kind || null, title: means || null }, name)))),
    make("tbody", {}, ...body));
}

const pairText = (pair, s) => {
  const [a, b] = pair.of.map((i) => view.families[i].name);
  const where = (wanted) => pair.ranges.filter((range) => range[2] === wanted).map(([start, end]) => showRange(start, end, s.axis, view.cost_unit)).join(", ");
  const parts = pair.of.filter((i) => where(i)).map((i) => say("better_at", { name: view.families[i].name, where: where(i) }));
  if (where(UNDECIDED)) parts.push(say("undecided_at", { where: where(UNDECIDED) }));
  return say("pair", { first: a, second: b, verdicts: parts.join("; ") || say("not_comparable") });
};
/* Up to ten families a cell is a tape over the budget; of more, its colour at the budget chosen. */
function fillMatrix(table, s, kind, grid, x, open, onOpen) {
  const shown = standingAt(s, kind, view.headline_at ?? x).rows.map((row) => row.family), small = shown.length > (table.parentElement.clientWidth < 560 ? 4 : 10);
  const by = new Map(kind.pairs.map((pair) => [pair.of.slice().sort((p, q) => p - q).join(), pair]));
  table.classList.toggle("small", small);
  const cell = (i, j, row, column) => {
    const pair = by.get([i, j].sort((p, q) => p - q).join());
    if (i === j || !pair) return make("td", { class: i === j ? "self" : null });
    const svg = draw("svg", { viewBox: small ? "0 0 20 20" : "0 0 120 26", preserveAspectRatio: "none", class: "tape", "aria-hidden": "true" });
    if (small) {
      const code = codeAt(pair, x);
      svg.append(draw("rect", { x: 1.5, y: 1.5, width: 17, height: 17, rx: 3, class: code === i ? "won" : code === j ? "lost" : code === APART ? "apart" : "open" }));
    } else {
      const ends = [grid[0], grid[grid.length - 1]], place = s.log && ends[0] > 0
        ? (v) => 2 + 116 * (Math.log(v / ends[0]) / Math.log(ends[1] / ends[0] || 2)) : (v) => 2 + 116 * ((v - ends[0]) / (ends[1] - ends[0] || 1));
      const parts = pair.ranges.map(([start, end, code]) => ({ start, end, code, possible: [] }));
      parts.forEach((part, k) => {
        if (part.code === APART) return;
        const from = place(k ? (parts[k - 1].end + part.start) / 2 : part.start), to = place(parts[k + 1] ? (part.end + parts[k + 1].start) / 2 : part.end);
        svg.append(draw("rect", { x: from, y: part.code >= 0 ? 5 : 8, width: Math.max(1, to - from), height: part.code >= 0 ? 16 : 10, rx: 2,
          class: part.code >= 0 ? `p${hueOf(part.code)}` : "open" }));
      });
    }
    const name = pairText(pair, s), on = open === pair;
    const upper = column > row;
    const button = upper ? make("button", { type: "button", "aria-label": name, title: name, "aria-pressed": String(on) }, svg)
      : make("div", { class: on ? "twin on" : "twin", title: name, "aria-hidden": "true" }, svg);
    button.addEventListener("click", () => onOpen(pair, button));
    return make("td", {}, button);
  };
  table.replaceChildren(
    make("thead", {}, make("tr", {}, make("td", {}), ...shown.map((i, k) => make("th", { scope: "col", title: view.families[i].name }, small ? k + 1 : view.families[i].name)))),
    make("tbody", {}, ...shown.map((i, row) => make("tr", {}, make("th", { scope: "row", title: view.families[i].name }, ...(small ? [`${row + 1} `] : []), ...dotted(i)),
      ...shown.map((j, column) => cell(i, j, row, column))))));
}

/* Second minus first, where that is above zero. */
function turned(pair) {
  const minus = (column) => column.map((v) => (known(v) ? -v : v));
  return { ...pair, of: [pair.of[1], pair.of[0]], difference: minus(pair.difference), low: minus(pair.high), high: minus(pair.low) };
}
function drawDifference(holder, tape, title, s, given) {
  holder.replaceChildren(); tape.replaceChildren();
  if (!given.x) { title.replaceChildren(say("pair_elsewhere", { pair: pairText(given, s) })); return null; }
  const middle = given.difference.filter(known).sort((p, q) => p - q);
  const pair = middle.length && middle[Math.floor(middle.length / 2)] < 0 ? turned(given) : given;
  const [a, b] = pair.of.map((i) => view.families[i].name);
  title.replaceChildren(...sayParts("minus", { first: pair.of[0], second: pair.of[1] }).map((part) => (typeof part === "number" ? coloured(part) : part)));
  const at = pair.x.map((_, i) => i).filter((i) => known(pair.difference[i]) && known(pair.low[i]) && known(pair.high[i]));
  if (!at.length) {
    title.replaceChildren(say(pair.why ? "cannot_because" : "cannot", { first: a, second: b, why: pair.why }));
    return null;
  }
  const pick = (column) => at.map((i) => column[i]), x = pick(pair.x), ink = css("--ink");
  const values = pick(pair.difference), low = Math.min(0, ...values), high = Math.max(0, ...values);
  const widths = at.map((i) => pair.high[i] - pair.low[i]).sort((p, q) => p - q);
  const room = Math.max(0.8 * (high - low), widths[Math.floor(widths.length / 2)], 1e-12);
  const bottom = Math.max(low - room, Math.min(0, ...pick(pair.low))), top = Math.min(high + room, Math.max(0, ...pick(pair.high)));
  const pad = 0.05 * (top - bottom || 1), ends = x.length > 1 ? [x[0], x[x.length - 1]] : [x[0] * 0.8, x[0] * 1.25];
  const won = (code) => at.map((i, k) => (codeAt(pair, pair.x[i]) === code ? values[k] : null));
  const plot = new uPlot({
    width: holder.clientWidth || 600, height: 230, padding: [10, 16, 0, 0], legend: { show: false }, cursor: { show: false },
    scales: { x: { time: false, distr: s.log ? 3 : 1, range: () => ends }, y: { range: () => [bottom - pad, top + pad] } },
    series: [{}, { stroke: "transparent", points: { show: false }, pxAlign: 0 }, { stroke: "transparent", points: { show: false }, pxAlign: 0 }, { pxAlign: 0, stroke: css("--soft"), width: 1.5, points: { show: x.length < 3 } },
      ...pair.of.map((i) => ({ pxAlign: 0, stroke: css(`--c${hueOf(i)}`), width: 4, points: { show: true, size: 5, fill: css(`--c${hueOf(i)}`) } }))],
    bands: [{ series: [2, 1], fill: "#88888830" }],
    axes: chartAxes(s.axis, view.cost_unit, s.log),
    hooks: { draw: [(u) => {
      const y = u.valToPos(0, "y", true), c = u.ctx;
      c.save(); c.strokeStyle = ink; c.lineWidth = devicePixelRatio; c.beginPath(); c.moveTo(u.bbox.left, y); c.lineTo(u.bbox.left + u.bbox.width, y); c.stroke(); c.restore();
      const left = u.bbox.left / devicePixelRatio, right = left + u.bbox.width / devicePixelRatio;
      const svg = draw("svg", { class: "tape", height: 40, role: "img", "aria-label": pairText(pair, s) }), defs = draw("defs");
      const parts = merged(pair.ranges.map(([start, end, code]) => [start, end, code, []]), 0);
      const place = (v) => left + u.valToPos(v, "x"), show = (start, end) => showRange(start, end, s.axis, view.cost_unit);
      svg.append(defs);
      const text = (part) => `${part.code >= 0 ? say("better", { name: view.families[part.code].name }) : say(part.code === APART ? "not_comparable" : "undecided")}: ${show(part.start, part.end)}`;
      tapeRow(svg, defs, parts, place, { left, right, top: 2, height: 20, names: view.families.map((one) => one.name), text });
      tapeRanges(svg, parts, place, { left, right, y: 36, show });
      tape.replaceChildren(svg);
    }] },
  }, [x, pick(pair.low), pick(pair.high), values, won(pair.of[0]), won(pair.of[1])], holder);
  return plot;
}
