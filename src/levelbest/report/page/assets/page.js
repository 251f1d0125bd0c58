/* The page's state and what changes it. */
const whole = JSON.parse(byId("view-data").textContent);
/* What is shown: everything, or one task of several. */
let view = whole;
/* Budgets and verdicts that many have in common come once: each line and pair gets its own again. */
for (const kind of [whole, ...whole.tasks].flatMap((one) => Object.values(one.kinds))) {
  for (const line of kind.lines) line.x = kind.budgets[line.x];
  kind.pairs = kind.pairs.map(([first, second, place, curve]) => ({
    of: [first, second], ranges: kind.verdicts[place].map(([start, end, side]) => [start, end, side < 0 ? side : [first, second][side]]),
    ...(curve ? { ...curve, x: kind.budgets[curve.x] } : {}),
  }));
}
const say = (key, given = {}) => filled(view.words[key], given).join(""), sayParts = (key, given) => filled(view.words[key], given);
const form = byId("controls"), slider = byId("budget"), holder = byId("chart");
let plot = null, difference = null, grid = [], zoom = null, opened = null, tip = null, lit = null;
const told = byId("answer") ? [...byId("answer").childNodes].map((node) => node.cloneNode(true)) : [];

document.documentElement.classList.add("with-script");
document.querySelectorAll(".needs-script").forEach((part) => { part.hidden = false; });

const chosen = (name, fallback) => {
  const input = form.querySelector(`input[name="${name}"]:checked`);
  return input ? input.value : fallback;
};
function state() {
  const boxes = [...form.querySelectorAll('input[name="family"]')];
  return {
    statistic: chosen("statistic", view.statistics[0]), axis: chosen("axis", view.axes[0]), range: chosen("range", "near"),
    log: chosen("scale", "linear") === "log", heights: chosen("heights", "linear"), bands: chosen("bands", "on") === "on",
    shown: new Set(boxes.length ? boxes.filter((box) => box.checked).map((box) => Number(box.value)) : view.families.map((_, i) => i)),
  };
}
const kindOf = (s) => view.kinds[`${s.statistic}/${s.axis}`];
const budgetText = (value, axis) =>
  axis === "trials" ? (Math.round(value) === 1 && view.words.new_one ? view.words.new_one : `${Math.round(value)} ${Math.round(value) === 1 ? view.word : view.units}`) : showBudget(value, axis, view.cost_unit);

/* A median over costs does not exist, nor one over all tasks: what was chosen last stays, and other switches follow. */
function agree(changed) {
  const task = form.elements.task, inputs = (name) => [...form.querySelectorAll(`input[name="${name}"]`)];
  const fits = () => kindOf(state()) !== undefined;
  const select = ([name, ...others]) => (name ? inputs(name).some((input) => { input.checked = true; return select(others); }) : fits());
  if (task) view = whole.tasks[Number(task.value)] || whole;
  if (fits()) return;
  const free = ["statistic", "axis"].filter((name) => name !== changed && inputs(name).length);
  if (select(free) || !task) return;
  task.value = "0";
  view = whole.tasks[0];
  select(free);
}

/* The ribbon: who is best at which budget, over the whole card; a click chooses the budget. */
function drawRibbon(wide = 0) {
  const s = state(), kind = kindOf(s), box = byId("ribbon");
  box.replaceChildren();
  const ends = [grid[0], grid[grid.length - 1]];
  if (!kind.strips.length || !(ends[0] < ends[1])) { box.hidden = true; return; }
  box.hidden = false;
  const right = wide || box.clientWidth || 640, left = 0, log = s.log && ends[0] > 0, scaled = log ? Math.log : (v) => v;
  const place = (v) => left + ((scaled(v) - scaled(ends[0])) / (scaled(ends[1]) - scaled(ends[0]))) * (right - left);
  const show = (start, end) => showRange(start, end, s.axis, view.cost_unit), names = view.families.map((one) => one.name);
  const labelled = kind.strips.length > 1, thick = labelled ? 16 : 34, step = thick + 20, height = 16 + step * kind.strips.length;
  const text = (part) => {
    const who = part.code >= 0 ? say("best", { name: names[part.code] }) : part.code === APART ? say("apart")
      : part.possible.length ? say("one_of", { names: listed(part.possible.map((i) => names[i])) }) : undecided(part);
    return `${show(part.start, part.end)}: ${who}`;
  };
  const svg = draw("svg", { class: "tape", height, viewBox: `0 0 ${right} ${height}`, role: "img" }), defs = draw("defs");
  svg.append(defs);
  kind.strips.forEach((strip, k) => {
    const parts = merged(strip.segments, 3), top = 16 + k * step;
    tapeRow(svg, defs, parts, place, { left, right, top, height: thick, names, text });
    if (labelled) svg.append(draw("text", { x: left, y: top + thick + 14, class: "row" }, strip.label));
    else tapeRanges(svg, parts, place, { left, right, y: top + thick + 15, show });
  });
  svg.setAttribute("aria-label", kind.strips.map((strip) => merged(strip.segments, 3).map(text).join("; ")).join(". "));
  const now = grid[Number(slider.value)], x = place(now), foot = 16 + step * (kind.strips.length - 1) + thick;
  svg.append(draw("path", { d: `M${x} 12V${foot + 3}`, class: "here" }), draw("text", { x: Math.max(12, Math.min(right - 12, x)), y: 10, class: "mark" }, showBudget(now, s.axis, view.cost_unit)));
  svg.addEventListener("click", (event) => {
    const at = event.clientX - svg.getBoundingClientRect().left;
    choose(grid.reduce((best, value, i) => (Math.abs(place(value) - at) < Math.abs(place(grid[best]) - at) ? i : best), 0));
  });
  box.append(svg);
}
/* The answer in large type: as the report gives it at its budget, and read off the pairs at any other. */
function showAnswer(s, kind, x) {
  const box = byId("answer");
  if (!box) return;
  const asReported = view === whole && s.statistic === whole.statistics[0] && s.axis === whole.axes[0] && s.shown.size === whole.families.length && (x === whole.headline || !byId("ribbon").firstChild);
  if ((asReported && told.length) || !kind.pairs.length) { box.replaceChildren(...told.map((node) => node.cloneNode(true))); return; }
  const { rows, pairs, apart, beaten } = standingAt(s, kind, x), left = rows.filter((row) => !row.beyond && !beaten.has(row.family)), n = rows.length;
  const names = apart === pairs || pairs < (n * (n - 1)) / 2 ? [say("no_names")] : left.length === n && n > 2 ? [say("any", { count: n })]
    : left.slice(0, 4).flatMap((row, i) => [...(i ? [i === Math.min(left.length, 4) - 1 && left.length <= 4 ? " or " : ", "] : []), coloured(row.family)]).concat(left.length > 4 ? [` ${say("more", { count: left.length - 4 })}`] : []);
  box.replaceChildren(make("p", { class: "where" }, say("with", { budget: budgetText(x, s.axis) })), make("p", { class: "answer" }, ...names),
    make("p", { class: "rest" }, ...standingText({ rows, pairs, apart, beaten }).map((part) => (typeof part === "number" ? coloured(part) : part))));
}
function drawBudget(u) {
  const c = u.ctx, x = u.valToPos(grid[Number(slider.value)], "x", true);
  if (x >= u.bbox.left - 1 && x <= u.bbox.left + u.bbox.width + 1) {
    c.save(); c.strokeStyle = css("--ink"); c.lineWidth = 1.3 * devicePixelRatio; c.setLineDash([2 * devicePixelRatio, 3 * devicePixelRatio]);
    c.beginPath(); c.moveTo(x, u.bbox.top); c.lineTo(x, u.bbox.top + u.bbox.height); c.stroke(); c.restore();
  }
}
/* The address keeps what was chosen, so that a view can be shared. */
const CHOICES = ["statistic", "axis", "range", "scale", "heights", "bands"];
function remember() {
  const s = state(), parts = new URLSearchParams();
  for (const name of CHOICES) {
    const input = form.querySelector(`input[name="${name}"]:checked`);
    if (input && !input.defaultChecked) parts.set(name, input.value);
  }
  const off = view.families.map((_, i) => i).filter((i) => !s.shown.has(i));
  if (off.length) parts.set("hide", off.join("."));
  if (form.elements.task && form.elements.task.value !== "-1") parts.set("task", form.elements.task.value);
  const x = grid[Number(slider.value)];
  if (x !== view.headline || s.axis !== "trials") parts.set("n", String(x));
  const next = parts.toString();
  if (next || location.hash.includes("=")) history.replaceState(null, "", next ? `#${next}` : location.pathname + location.search);
}
function recall() {
  if (!location.hash.includes("=")) return null;
  const parts = new URLSearchParams(location.hash.slice(1));
  const task = form.elements.task;
  if (task && whole.tasks[Number(parts.get("task"))]) { task.value = parts.get("task") ?? "-1"; view = whole.tasks[Number(task.value)] || whole; }
  for (const name of CHOICES) for (const input of form.querySelectorAll(`input[name="${name}"]`)) if (parts.get(name) === input.value) input.checked = true;
  for (const i of (parts.get("hide") || "").split(".").filter(Boolean)) { const box = form.querySelector(`input[name="family"][value="${Number(i)}"]`); if (box) box.checked = false; }
  agree("axis");
  return Number(parts.get("n")) || null;
}
/* The place in the grid that is nearest on the screen. */
function nearest(u, left) {
  let best = 0;
  grid.forEach((x, i) => { if (Math.abs(u.valToPos(x, "x") - left) < Math.abs(u.valToPos(grid[best], "x") - left)) best = i; });
  return best;
}
function choose(i) {
  if (Number(slider.value) === i) return;
  slider.value = String(i);
  atBudget();
}
function hover(u) {
  if (!tip) return;
  const { left, top } = u.cursor;
  tip.hidden = !(left >= 0 && top >= 0) || u.over.classList.contains("grab");
  if (tip.hidden) return;
  const s = state(), x = grid[nearest(u, left)], { rows } = standingAt(s, kindOf(s), x);
  const far = (row) => Math.abs(u.valToPos(row.value, "y") - top), near = rows.filter((row) => known(row.value)).sort((p, q) => far(p) - far(q))[0];
  const next = near && far(near) < 14 ? near.family : null;
  if (next !== lit) { lit = next; u.redraw(false, false); }
  const some = rows.filter((row) => known(row.value)), places = decimalsOf(some), most = 10;
  tip.replaceChildren(make("b", {}, budgetText(x, s.axis)), make("table", {}, make("tbody", {}, ...some.slice(0, most).map((row) => make("tr", {},
    make("th", {}, ...dotted(row.family)), make("td", {}, fixed(row.value, places)),
    make("td", {}, known(row.low) && known(row.high) ? `${fixed(row.low, places)} – ${fixed(row.high, places)}` : ""))))),
  ...(some.length > most ? [make("span", { class: "more" }, say("more", { count: some.length - most }))] : []));
  const area = u.over.getBoundingClientRect(), around = holder.getBoundingClientRect();
  const at = area.left - around.left + u.valToPos(x, "x"), flip = at + tip.offsetWidth + 16 > around.width;
  tip.style.left = `${Math.max(0, flip ? at - tip.offsetWidth - 12 : at + 12)}px`;
  tip.style.top = `${Math.max(0, Math.min(area.top - around.top + top - 20, area.height - tip.offsetHeight + 12))}px`;
}
/* Near the dashed line a drag moves it; elsewhere a click chooses and a drag zooms. */
function ready(u) {
  tip = make("div", { class: "tip", hidden: "" });
  holder.append(tip);
  const over = u.over, at = (event) => event.clientX - over.getBoundingClientRect().left;
  const near = (event) => Math.abs(at(event) - u.valToPos(grid[Number(slider.value)], "x")) < (event.pointerType === "touch" ? 22 : 6);
  let start = null, grabbed = false;
  over.addEventListener("pointerdown", (event) => {
    start = [event.clientX, event.clientY];
    grabbed = near(event);
    if (grabbed) { over.setPointerCapture(event.pointerId); u.cursor.drag.x = u.cursor.drag.y = false; }
  }, true);
  over.addEventListener("pointermove", (event) => {
    over.classList.toggle("grab", grabbed || (!start && near(event)));
    if (grabbed) choose(nearest(u, at(event)));
  });
  over.addEventListener("pointerup", (event) => {
    if (start && Math.hypot(event.clientX - start[0], event.clientY - start[1]) < 5) choose(nearest(u, at(event)));
    start = null; grabbed = false;
    setTimeout(() => { u.cursor.drag.x = u.cursor.drag.y = true; });
  });
  over.addEventListener("pointerleave", () => { tip.hidden = true; if (lit !== null) { lit = null; u.redraw(false, false); } if (!grabbed) start = null; });
  over.addEventListener("dblclick", unzoom);
  if (zoom) {
    const back = make("button", { type: "button", class: "zoomed" }, say("whole"));
    back.addEventListener("click", unzoom);
    holder.append(back);
  }
}
function unzoom() {
  if (zoom) { zoom = null; refresh(true); }
}

function atBudget() {
  const s = state(), kind = kindOf(s), x = grid[Number(slider.value)], text = budgetText(x, s.axis);
  byId("budget-text").textContent = text;
  slider.setAttribute("aria-valuetext", text);
  fillStanding(byId("at-budget"), s, kind, x, s.axis === "trials" ? thousands(Math.round(x)) : text);
  if (byId("matrix")) showPairs(s, kind, x);
  if (plot) plot.redraw(false, false);
  drawRibbon();
  showAnswer(s, kind, x);
  remember();
}
function showPairs(s, kind, x) {
  const shown = kind.pairs.filter((pair) => pair.of.every((i) => s.shown.has(i)));
  const several = shown.length > 1;
  if (opened && !shown.includes(opened)) opened = shown.find((pair) => String(pair.of) === String(opened.of)) || null;
  if (!several && shown.length) opened = shown[0];
  byId("matrix-box").hidden = !several;
  const open = (pair) => { opened = opened === pair ? null : pair; showPairs(s, kind, x); openDifference(s); };
  const focused = document.activeElement && document.activeElement.getAttribute("aria-label");
  if (several) fillMatrix(byId("matrix"), s, kind, grid, x, opened, open);
  byId("pairs-hint").textContent = !several ? "" : byId("matrix").classList.contains("small") ? say("cells", { budget: budgetText(x, s.axis) }) : say("tapes");
  if (focused) [...byId("matrix").querySelectorAll("button")].find((b) => b.getAttribute("aria-label") === focused)?.focus();
}
function openDifference(s) {
  if (difference) { difference.destroy(); difference = null; }
  const box = byId("difference-box");
  if (!box) return;
  box.hidden = !opened;
  if (opened) difference = drawDifference(byId("difference"), byId("difference-strip"), byId("difference-title"), s, opened);
}

function refresh(keep, wanted = null) {
  const before = wanted ?? (grid.length ? grid[Number(slider.value)] : null);
  const s = state(), kind = kindOf(s);
  grid = [...new Set(kind.lines.flatMap((line) => line.x))].sort((a, b) => a - b);
  slider.max = String(Math.max(0, grid.length - 1));
  let at = grid.findIndex((x) => x >= view.headline);
  if (keep && grid.includes(before)) at = grid.indexOf(before);
  else if (s.axis !== "trials" || at < 0) at = Math.floor(grid.length / 3);
  slider.value = String(Math.max(0, at));
  if (plot) { plot.destroy(); plot = null; }
  if (byId("score")) {
    const named = form.querySelector('input[name="statistic"]:checked + span'), passes = byId("what").matches(".passes");
    byId("score").textContent = passes ? "" : view.score;
    if (named && passes) byId("what").textContent = named.textContent;
    byId("against").textContent = say(s.axis === "trials" ? "against_trials" : "against_cost");
  }
  tip = null;
  lit = null;
  if (holder.offsetParent) plot = drawChart(holder, s, kind, grid, zoom, { lit: () => lit, drawn: drawBudget, zoomed: (next) => { zoom = next; refresh(true); }, hover, ready });
  atBudget();
  openDifference(s);
}

function sortable(table) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => head.querySelector("button").addEventListener("click", () => {
    const up = head.getAttribute("aria-sort") !== "ascending";
    heads.forEach((other) => other.setAttribute("aria-sort", "none"));
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const key = (tr) => tr.cells[column].textContent;
    const number = (text) => (text.trim() === "" || Number.isNaN(Number(text)) ? null : Number(text));
    const rows = [...table.tBodies[0].rows];
    rows.sort((p, q) => {
      const [a, b] = [number(key(p)), number(key(q))];
      if ((a === null) !== (b === null)) return a === null ? 1 : -1;
      const order = a === null ? key(p).localeCompare(key(q)) : a - b;
      return up ? order : -order;
    });
    table.tBodies[0].append(...rows);
  }));
}

document.querySelectorAll("a[data-figure]").forEach((link) => {
  const picture = byId(`figure-${link.dataset.figure}`);
  if (picture) link.href = picture.src;
  else link.parentElement.hidden = true;
});
byId("copy-methods").addEventListener("click", async () => {
  const text = byId("methods-text");
  try {
    await navigator.clipboard.writeText(text.textContent);
    byId("copied").textContent = say("copied");
  } catch {
    getSelection().selectAllChildren(text);
    byId("copied").textContent = say("selected");
  }
});
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("change", (event) => {
  const name = event.target.name;
  agree(name);
  if (name !== "bands" && name !== "family") zoom = null;
  refresh(name !== "axis");
});
slider.addEventListener("input", atBudget);
document.querySelectorAll("details.part").forEach((part) => part.addEventListener("toggle", () => { if (part.open && part.querySelector("#difference-box")) openDifference(state()); if (part.open && byId("matrix")) showPairs(state(), kindOf(state()), grid[Number(slider.value)]); }));
document.querySelectorAll('a[href^="#"]').forEach((link) => link.addEventListener("click", () => { const part = byId(link.hash.slice(1))?.closest("details"); if (part) part.open = true; }));
document.addEventListener("click", (event) => { const menu = document.querySelector(".menu"); if (menu && menu.open && !menu.contains(event.target)) menu.open = false; });
addEventListener("beforeprint", () => { document.querySelectorAll("details.part").forEach((part) => { part.open = true; }); drawRibbon(680); });
addEventListener("afterprint", () => drawRibbon());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => refresh(true));
let width = document.body.clientWidth;
new ResizeObserver(() => {
  if (Math.abs(document.body.clientWidth - width) > 8) { width = document.body.clientWidth; refresh(true); }
}).observe(document.body);
if (byId("trials-table")) sortable(byId("trials-table"));
const asked = recall();
refresh(asked !== null, asked);
