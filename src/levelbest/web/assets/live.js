/* Everything that comes from the study is set as text, never as markup. */
const holder = byId("chart");
function element(tag, text, attributes) {
  return make(tag, attributes, ...(text === undefined || text === null ? [] : [text]));
}
let view = null, plot = null, now = null, drawn = "";
const shown = (value) => (known(value) ? Number(value.toPrecision(5)).toString() : "–");

const say = (key, given = {}) => filled(view.words[key], given).join("");

/* How far a family is, in its colour: finished, failed and running parts of what is planned. */
function progress(one, i) {
  const most = Math.max(one.planned, 1), part = (n) => `${((100 * n) / most).toFixed(2)}%`, good = one.finished - one.failed;
  const bar = draw("svg", { class: "bar", role: "img", "aria-label": `${one.finished} of ${one.planned} trials of ${one.family}, ${one.failed} failed` });
  bar.append(draw("rect", { width: "100%", height: 12, rx: 3, class: "planned" }), draw("rect", { width: part(good), height: 12, rx: 3, class: `p${hueOf(i)}` }),
    draw("rect", { x: part(good), width: part(one.failed), height: 12, class: "failed" }), draw("rect", { x: part(one.finished), width: part(one.running), height: 12, class: `running p${hueOf(i)}` }));
  return bar;
}
/* The answer in large type with the families in their colours, as in the report. */
function answer(state) {
  const parts = (pieces) => pieces.map(([text, i]) => (i < 0 ? text : element("b", text, { class: `f${hueOf(i)}` })));
  if (!state.answer) return [element("p", state.verdict, { class: "lead" })];
  const { where, names, rest } = state.answer;
  return [make("p", { class: "where" }, where), make("p", { class: "answer" }, ...parts(names)), make("p", { class: "rest" }, ...parts(rest))];
}
/* Who is ahead at which budget, as in the report; the axis ends at the number of trials planned. */
function ribbon(state) {
  const box = byId("ribbon");
  box.replaceChildren();
  box.hidden = !state.ribbon.length;
  const last = Math.max(...state.families.map((one) => one.planned)), reached = box.hidden ? 0 : state.ribbon[state.ribbon.length - 1][1];
  if (box.hidden || last < 2) return;
  const right = box.clientWidth || 640, log = last > 30, scaled = log ? Math.log : (v) => v - 1, place = (v) => (right * scaled(v)) / scaled(last);
  const names = state.families.map((one) => one.family), show = (start, end) => showRange(start, end, "trials");
  const parts = merged([...state.ribbon, ...(reached < last ? [[reached + 1, last, APART, []]] : [])], 3);
  const text = (part) => `${show(part.start, part.end)}: ${part.code >= 0 ? say("best", { name: names[part.code] }) : part.code === APART ? say("apart")
    : part.possible.length ? say("one_of", { names: listed(part.possible.map((i) => names[i])) }) : undecided(part)}`;
  const svg = draw("svg", { class: "tape", height: 54, role: "img", "aria-label": parts.map(text).join("; ") }), defs = draw("defs");
  svg.append(defs);
  tapeRow(svg, defs, parts, place, { left: 0, right, top: 2, height: 30, names, text });
  tapeRanges(svg, parts, place, { left: 0, right, y: 48, show });
  box.append(svg);
}

function families(state) {
  byId("families").tBodies[0].replaceChildren(...state.families.map((one, i) => {
    const row = element("tr"), name = element("th", null, { scope: "row" });
    name.append(element("span", null, { class: `dot f${hueOf(i)}`, "aria-hidden": "true" }), ` ${one.family}`);
    const cell = element("td");
    cell.append(progress(one, i));
    row.append(name, cell);
    for (const [key, label] of [["planned", "planned"], ["finished", "finished"], ["running", "running"],
      ["failed", "failed"], ["prefix", "in the curve"], ["best", "best so far"]]) {
      row.append(element("td", one[key], { class: "n", "data-label": label }));
    }
    return row;
  }));
}

function values(state) {
  byId("values").tBodies[0].replaceChildren(...state.curves.flatMap((curve) => curve.x.map((x, i) => {
    const row = element("tr");
    row.append(element("th", curve.family, { scope: "row" }), element("td", x, { class: "n" }));
    for (const column of [curve.value, curve.low, curve.high]) row.append(element("td", shown(column[i]), { class: "n" }));
    return row;
  })));
}

/* The curves fill the picture, within the bounds of the score; a band may double their height and is cut off beyond.
   Losses that fall by a factor of ten or more stand on a log scale. */
function heightsOf(state) {
  const all = state.curves.flatMap((c) => c.value), [floor, roof] = state.bounds;
  const limits = state.curves.flatMap((c) => [...c.low, ...c.high]).filter(known);
  let low = Math.min(...all), high = Math.max(...all);
  if (state.direction === "min" && low > 0 && high > 10 * low) {
    return { log: true, ends: [Math.max(low / 3, Math.min(low, ...limits.filter((v) => v > 0))) / 1.1, Math.min(3 * high, Math.max(high, ...limits)) * 1.1] };
  }
  const room = Math.max(0.5 * (high - low), 0.01 * Math.abs(high), 1e-12);
  low = Math.max(low - room, Math.min(low, ...limits));
  high = Math.min(high + room, Math.max(high, ...limits));
  const pad = 0.05 * (high - low || 1);
  return { log: false, ends: [known(floor) ? Math.max(low - pad, floor) : low - pad, known(roof) ? Math.min(high + pad, roof) : high + pad] };
}

function chart(state) {
  const key = JSON.stringify([state.curves, state.families.map((one) => one.planned)]) + holder.clientWidth + css("--paper");
  if (key === drawn) return;
  drawn = key;
  if (plot) { plot.destroy(); plot = null; }
  holder.replaceChildren();
  if (!state.curves.length) { holder.textContent = "No finished trial to draw yet."; return; }
  const span = heightsOf(state);
  const grid = [...new Set(state.curves.flatMap((c) => c.x))].sort((a, b) => a - b);
  const last = Math.max(grid[grid.length - 1], ...state.families.map((one) => one.planned)), log = last > 30;
  const width = holder.clientWidth || 640, wide = width >= 620 && state.curves.length <= 18;
  const data = [grid], series = [{}], bands = [], names = state.families.map((one) => one.family);
  for (const curve of state.curves) {
    const style = styleOf(names.indexOf(curve.family));
    const by = new Map(curve.x.map((x, i) => [x, i]));
    const spread = (pick) => grid.map((x) => (by.has(x) ? pick(by.get(x)) : undefined));
    /* Shaded where both limits are known; where one is missing the band is open and fades from the curve to the edge. */
    const both = (i) => known(curve.low[i]) && known(curve.high[i]);
    const quiet = { stroke: "transparent", points: { show: false }, spanGaps: false, pxAlign: 0 };
    data.push(spread((i) => (both(i) ? curve.high[i] : null)), spread((i) => (both(i) ? curve.low[i] : null)));
    series.push(quiet, quiet);
    bands.push({ series: [data.length - 2, data.length - 1], fill: `${style.colour}26` });
    for (const [limit, other, top] of [[curve.high, curve.low, 1], [curve.low, curve.high, 0]]) {
      const open = (i) => i >= 0 && i < curve.x.length && !known(limit[i]), touch = (i) => open(i) || open(i + 1) || open(i - 1);
      if (!curve.x.some((_, i) => open(i))) continue;
      data.push(spread((i) => (touch(i) ? (known(limit[i]) ? limit[i] : span.ends[top]) : null)), spread((i) => (touch(i) ? (known(other[i]) && open(i) ? other[i] : curve.value[i]) : null)));
      series.push(quiet, quiet);
      bands.push({ series: top ? [data.length - 2, data.length - 1] : [data.length - 1, data.length - 2], fill: (u) => fading(u, style.colour, top) });
    }
    data.push(spread((i) => curve.value[i]));
    series.push({ pxAlign: 0, stroke: style.colour, width: 2, dash: wide ? [] : style.dash, points: { show: curve.x.length < 3 } });
  }
  plot = new uPlot({
    width, height: Math.max(240, Math.min(360, Math.round(width * 0.48))),
    padding: [12, wide ? roomFor(state.curves.map((c) => c.family)) : 14, 0, 0],
    scales: { x: { time: false, distr: log ? 3 : 1, range: () => [1, Math.max(last, 2)] }, y: { distr: span.log ? 3 : 1, range: () => span.ends } },
    legend: { show: false },
    cursor: { show: false },
    series, bands,
    axes: chartAxes("trials", null, log),
    hooks: { draw: [(u) => {
      if (!wide) return;
      labelEnds(u, state.curves.map((c) => ({ name: c.family, colour: styleOf(names.indexOf(c.family)).colour, x: u.valToPos(c.x[c.x.length - 1], "x", true),
        y: Math.max(u.bbox.top, Math.min(u.bbox.top + u.bbox.height, u.valToPos(c.value[c.value.length - 1], "y", true))) })));
    }] },
  }, data, holder);
}

/* A failure keeps its element, so that a log that someone reads stays open while others arrive. */
const listedFailures = new Map();
function failures(state) {
  const count = state.failures.length;
  byId("failures-text").textContent = !state.n_failed ? "None so far."
    : `${state.n_failed} ${state.n_failed === 1 ? "trial" : "trials"} failed; each counts as the worst score.` +
      (count < state.n_failed ? ` The latest ${count} are listed.` : "") + " Open one to read the end of its log.";
  const wanted = new Set(state.failures.map((one) => JSON.stringify([one.family, one.trial])));
  for (const [key, item] of listedFailures) if (!wanted.has(key)) { item.remove(); listedFailures.delete(key); }
  for (const one of state.failures.slice().reverse()) { /* the latest comes first */
    const key = JSON.stringify([one.family, one.trial]);
    if (listedFailures.has(key)) continue;
    const item = element("li"), details = element("details");
    details.append(element("summary", `${one.family}, trial ${one.trial}: ${one.status}${one.reason ? `, ${one.reason}` : ""}`));
    details.addEventListener("toggle", () => { if (details.open && details.childElementCount === 1) load(details, one); });
    item.append(details);
    listedFailures.set(key, item);
    byId("failures-list").prepend(item);
  }
}
async function load(details, one) {
  const config = element("p", "Reading the log."), log = element("pre", "", { class: "log", tabindex: "0" });
  details.append(config, log);
  try {
    const answer = await fetch(`trial?${new URLSearchParams({ family: one.family, trial: one.trial })}`);
    if (!answer.ok) throw new Error(await answer.text());
    const found = await answer.json();
    config.textContent = `Configuration ${JSON.stringify(found.config)}, seed ${found.seed}.`;
    log.textContent = found.log || "It printed nothing.";
  } catch (error) {
    config.textContent = `The log cannot be read: ${error.message}`;
    log.remove();
  }
}

/* By the reader's clock: a runner that was killed leaves no record of it, only silence. */
function news() {
  if (!now) return;
  const seconds = Math.max(0, Math.round(Date.now() / 1000 - now.at / 1e6));
  const ago = seconds < 90 ? `${seconds} s` : seconds < 5400 ? `${Math.round(seconds / 60)} min`
    : seconds < 172800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86400)} days`;
  const left = now.finished || now.session.stopped || !now.left ? "" : `${now.left[0].toUpperCase()}${now.left.slice(1)}. `;
  byId("news").textContent = `${left}Last record ${ago} ago.`;
}
setInterval(news, 5000);

function refresh(state) {
  now = view = state;
  const total = (key) => state.families.reduce((sum, one) => sum + one[key], 0);
  const stopped = state.session.stopped;
  const how = state.finished ? "finished" : stopped ? `stopped (${stopped})` : `running on ${state.session.engine || "?"}`;
  byId("state").textContent = `${total("finished")} of ${total("planned")} trials, ${total("running")} running: ${how}.`;
  news();
  document.title = `${total("finished")}/${total("planned")} ${state.study}`;
  byId("problem").textContent = state.problem;
  byId("problem").hidden = !state.problem;
  byId("report-link").hidden = !state.finished;
  byId("verdict").textContent = state.finished ? "Verdict" : "So far";
  byId("verdict-text").replaceChildren(...answer(state));
  byId("conditions").textContent = state.conditions;
  byId("conditions").hidden = !state.conditions;
  byId("verdict-box").hidden = !state.verdict && !state.conditions;
  byId("score").textContent = state.score || "score";
  byId("confidence").textContent = String(100 * state.confidence);
  byId("note").textContent = state.note;
  byId("note").hidden = !state.note;
  byId("head").textContent = state.head;
  byId("records").textContent = String(state.records);
  byId("differs").textContent = state.differs;
  byId("differs").hidden = !state.differs;
  families(state); ribbon(state); values(state); chart(state); failures(state);
}

const source = new EventSource("events");
source.onmessage = (event) => refresh(JSON.parse(event.data));
source.onerror = () => {
  byId("problem").textContent = "The connection to the server is lost; the page shows the last known state and keeps trying to reconnect.";
  byId("problem").hidden = false;
};
const again = () => { if (now) { chart(now); ribbon(now); } };
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
new ResizeObserver(again).observe(holder);
