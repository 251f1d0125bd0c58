"use strict";
(function () {
  const view = JSON.parse(document.getElementById("view-data").textContent);
  const $ = (id) => document.getElementById(id);
  const form = $("controls"), slider = $("budget"), holder = $("chart");
  const dashes = [[], [9, 3], [2, 2], [10, 3, 2, 3], [5, 2], [14, 4], []];
  const names = view.families;
  /* After seven families the colours come again, with other dashes. */
  const styleOf = (name) => {
    const i = names.indexOf(name);
    return { colour: css(`--c${i % 7}`), dash: dashes[(i + Math.floor(i / 7)) % 7] };
  };
  let plot = null, grid = [];

  document.documentElement.classList.add("with-script");
  document.querySelectorAll(".needs-script").forEach((one) => { one.hidden = false; });

  const chosen = (name, fallback) => {
    const one = form.querySelector(`input[name="${name}"]:checked`);
    return one ? one.value : fallback;
  };
  const state = () => ({
    statistic: chosen("statistic", view.statistics[0]),
    axis: chosen("axis", view.axes[0]),
    log: chosen("scale", "linear") === "log",
    bands: form.querySelector('input[name="bands"]').checked,
    shown: new Set([...form.querySelectorAll('input[name="family"]:checked')].map((one) => names[Number(one.value)])),
  });
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  function three(value) {
    if (value === 0) return "0";
    const size = Math.abs(value);
    if (size >= 1e-3 && size < 1e6) return value.toFixed(Math.max(0, 2 - Math.floor(Math.log10(size))));
    return value.toPrecision(3);
  }
  function showBudget(value, axis) {
    if (axis === "trials") return String(Math.round(value));
    const seconds = { s: 1, min: 60, h: 3600, d: 86400 }[view.cost_unit];
    if (seconds) {
      for (const [unit, size] of [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]]) {
        if (value * seconds >= size || unit === "s") return `${three(value * seconds / size)} ${unit}`;
      }
    }
    return view.cost_unit === "USD" ? `$${value.toFixed(2)}` : `${three(value)} ${view.cost_unit || ""}`.trim();
  }
  /* Round budgets for the ticks, as many as there is room for; times in seconds, minutes, hours and days. */
  function ticksOf(width, axis, low, high, log) {
    const second = axis === "trials" ? 0 : 1 / ({ s: 1, min: 60, h: 3600, d: 86400 }[view.cost_unit] || 0);
    const timed = Number.isFinite(second) && second > 0;
    const decades = (parts, every) => {
      const found = [];
      const start = Math.floor(Math.log10(log ? low : 1e-9)), end = Math.ceil(Math.log10(high));
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
        : [decades([1, 2, 3, 5, 7], 1), decades([1, 2, 5], 1), decades([1, 3], 1), decades([1], 1), decades([1], 2), decades([1], 3)])
      : (timed ? times([1, 2, 5, 10, 15, 30], [1, 2, 3, 6, 12]) : decades([1, 2, 5], 1)).sort((p, q) => p - q)
        .filter((step) => (axis !== "trials" || step >= 1) && (high - low) / step < 200)
        .map((step) => Array.from({ length: Math.floor(high / step) + 1 }, (_, i) => i * step));
    return candidates.map(inside).find(fits) || [low, high];
  }
  const tick = (value, axis) => showBudget(value, axis).replace(/(\.\d*?)0+(?=$| )/, "$1").replace(/\.(?=$| )/, "");
  const fitted = (text, room) => (7.5 * text.length <= room ? text : `${[...text].slice(0, Math.floor(room / 7.5) - 1).join("")}…`);
  const budgetText = (value, axis) =>
    axis === "trials" ? `${Math.round(value)} ${view.word}${Math.round(value) === 1 ? "" : "s"}` : showBudget(value, axis);
  function show(value, low, high) {
    if (value === null || value === undefined) return "–";
    const half = low === null || high === null ? null : (high - low) / 2;
    const places = half > 0 ? Math.max(0, Math.min(12, 1 - Math.floor(Math.log10(half)))) : 4;
    return value.toFixed(places);
  }
  /* The value of a line at a budget: the last point at or below it. */
  function pointAt(line, x) {
    let found = -1;
    for (let i = 0; i < line.x.length && line.x[i] <= x * (1 + 1e-12); i++) found = i;
    return x > line.x[line.x.length - 1] * (1 + 1e-9) ? -1 : found;
  }
  const linesOf = (s) => view.lines.filter((l) => l.statistic === s.statistic && l.axis === s.axis);
  const pairsOf = (s) => view.pairs.filter((p) => p.statistic === s.statistic && p.axis === s.axis);

  function draw() {
    const s = state();
    const lines = linesOf(s).filter((line) => s.shown.has(line.family));
    grid = [...new Set(linesOf(s).flatMap((line) => line.x))].sort((a, b) => a - b);
    if (plot) { plot.destroy(); plot = null; }
    holder.replaceChildren();
    if (!lines.length) { holder.textContent = "No family is switched on."; return; }
    /* The curves fill the picture; a band may stretch it by a third on either side and is cut off beyond. */
    const values = lines.flatMap((l) => l.value).filter((v) => v !== null);
    const limits = s.bands ? lines.flatMap((l) => [...l.low, ...l.high]).filter((v) => v !== null) : [];
    const height = Math.max(260, Math.min(460, Math.round((holder.clientWidth || 640) * 0.52)));
    let low = Math.min(...values), high = Math.max(...values);
    const room = Math.max((high - low) / 3, 0.02 * Math.abs(high - low || high), 1e-12);
    low = Math.max(low - room, Math.min(low, ...limits));
    high = Math.min(high + room, Math.max(high, ...limits));
    for (const value of Object.values(view.published)) { low = Math.min(low, value); high = Math.max(high, value); }
    const pad = 0.04 * (high - low || 1);
    low -= pad; high += pad;
    const data = [grid], series = [{}], bands = [];
    const spread = (line, values) => {
      const by = new Map(line.x.map((x, i) => [x, values[i]]));
      return grid.map((x) => (by.has(x) ? by.get(x) : undefined));
    };
    lines.forEach((line) => {
      const { colour, dash } = styleOf(line.family);
      /* A missing limit runs to the edge of the picture, in a lighter shade. */
      const closed = line.x.map((_, i) => line.low[i] !== null && line.high[i] !== null);
      const open = line.x.map((_, i) => !closed[i] && (line.low[i] !== null || line.high[i] !== null));
      const touch = open.map((o, i) => o || (closed[i] && (open[i + 1] || open[i - 1])));
      const columns = [
        [line.high.map((v, i) => (closed[i] ? v : null)), line.low.map((v, i) => (closed[i] ? v : null)), "2e"],
        [line.high.map((v, i) => (touch[i] ? (v === null ? high : v) : null)),
         line.low.map((v, i) => (touch[i] ? (v === null ? low : v) : null)), "14"],
      ];
      for (const [top, bottom, alpha] of s.bands ? columns : []) {
        data.push(spread(line, top), spread(line, bottom));
        series.push({ stroke: "transparent", points: { show: false }, spanGaps: false },
                    { stroke: "transparent", points: { show: false }, spanGaps: false });
        bands.push({ series: [data.length - 2, data.length - 1], fill: colour + alpha });
      }
      data.push(spread(line, line.value));
      series.push({ label: line.family, stroke: colour, width: 2, dash, points: { show: line.x.length < 3 } });
    });
    const published = Object.entries(view.published);
    const wide = (holder.clientWidth || 640) >= 640 && lines.length <= 12;
    const longest = Math.max(...lines.map((l) => l.family.length));
    const first = grid[0], last = grid[grid.length - 1];
    const ends = first < last ? [first, last] : s.log ? [first * 0.8, first * 1.25] : [first - 0.5, first + 0.5];
    plot = new uPlot({
      width: holder.clientWidth || 640,
      height,
      padding: [10, wide ? Math.min(190, 7.2 * Math.min(longest, 24) + 14) : 14, 0, 0],
      scales: { x: { time: false, distr: s.log ? 3 : 1, range: ends }, y: { range: [low, high] } },
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
      series, bands,
      axes: [
        { stroke: css("--soft"), grid: { show: false }, ticks: { stroke: css("--line") },
          label: s.axis === "trials" ? `budget (${view.word}s)` : "budget (cost)", labelSize: 22,
          filter: (_, found) => found,
          splits: (u, at, min, max) => ticksOf(u.bbox.width / devicePixelRatio, s.axis, min, max, s.log),
          values: (_, found) => found.map((t) => tick(t, s.axis)) },
        { stroke: css("--soft"), grid: { stroke: css("--line"), width: 0.5 }, ticks: { show: false }, size: 64,
          values: (u, found, at, space, step) => found.map((v) => v.toFixed(Math.min(12, (String(Number(step.toPrecision(3))).split(".")[1] || "").length))),
          label: fitted(`${s.statistic === "mean" ? "expected" : s.statistic} best ${view.score}`, height - 60), labelSize: 22 },
      ],
      hooks: {
        draw: [(u) => {
          const c = u.ctx;
          c.save(); c.strokeStyle = css("--soft"); c.fillStyle = css("--soft"); c.setLineDash([6, 4]); c.textAlign = "left";
          c.font = `${12 * devicePixelRatio}px system-ui, sans-serif`;
          for (const [name, value] of published) {
            const y = u.valToPos(value, "y", true);
            c.beginPath(); c.moveTo(u.bbox.left, y); c.lineTo(u.bbox.left + u.bbox.width, y); c.stroke();
            c.fillText(name, u.bbox.left + 6, y - 4);
          }
          if (wide) labelEnds(u, lines);
          const x = u.valToPos(grid[Number(slider.value)], "x", true);
          c.setLineDash([]); c.globalAlpha = 0.55;
          c.beginPath(); c.moveTo(x, u.bbox.top); c.lineTo(x, u.bbox.top + u.bbox.height); c.stroke();
          c.restore();
        }],
        ready: [(u) => {
          u.over.addEventListener("pointermove", (event) => {
            const x = u.posToVal(event.clientX - u.over.getBoundingClientRect().left, "x");
            let best = 0;
            grid.forEach((g, i) => { if (Math.abs(g - x) < Math.abs(grid[best] - x)) best = i; });
            if (Number(slider.value) !== best) { slider.value = String(best); atBudget(); }
          });
        }],
      },
    }, data, holder);
  }

  /* Names where the lines end, pushed apart so that none covers another. */
  function labelEnds(u, lines) {
    const c = u.ctx, gap = 14 * devicePixelRatio, foot = u.bbox.top + u.bbox.height;
    const ends = lines.map((line) => {
      const values = line.value.filter((v) => v !== null);
      return { line, y: u.valToPos(values[values.length - 1], "y", true) };
    }).filter((end) => Number.isFinite(end.y)).sort((a, b) => a.y - b.y);
    ends.forEach((end, i) => { if (i) end.y = Math.max(end.y, ends[i - 1].y + gap); });
    for (let i = ends.length - 1; i >= 0; i--) {
      ends[i].y = Math.min(ends[i].y, i === ends.length - 1 ? foot : ends[i + 1].y - gap);
    }
    c.save(); c.textBaseline = "middle"; c.textAlign = "left"; c.font = `${12 * devicePixelRatio}px system-ui, sans-serif`;
    for (const { line, y } of ends) {
      const name = [...line.family];
      c.fillStyle = styleOf(line.family).colour;
      c.fillText(name.length > 24 ? name.slice(0, 23).join("") + "…" : line.family, u.bbox.left + u.bbox.width + 6 * devicePixelRatio, y);
    }
    c.restore();
  }

  function row(cells, tag) {
    const tr = document.createElement("tr");
    cells.forEach((text, i) => {
      const cell = document.createElement(i === 0 && tag === "td" ? "th" : tag);
      cell.textContent = text;
      cell.scope = tag === "th" ? "col" : i === 0 ? "row" : "";
      tr.append(cell);
    });
    return tr;
  }

  function atBudget() {
    const s = state(), x = grid[Number(slider.value)], box = $("at-budget");
    const text = budgetText(x, s.axis);
    $("budget-text").textContent = text;
    slider.setAttribute("aria-valuetext", text);
    box.replaceChildren();
    const table = document.createElement("table"), head = document.createElement("thead"), body = document.createElement("tbody");
    head.append(row(["Family", `best of ${text}`, `${100 * view.confidence} % band`], "th"));
    for (const line of linesOf(s).filter((l) => s.shown.has(l.family))) {
      const i = pointAt(line, x);
      const [v, lo, hi] = i < 0 ? [null, null, null] : [line.value[i], line.low[i], line.high[i]];
      const limit = (one, other, none) => (one === null ? none : show(one, lo, hi));
      const band = i < 0 ? `beyond its ${view.word}s` : lo === null && hi === null ? "no limits"
        : `${limit(lo, hi, "no lower limit")} to ${limit(hi, lo, "no upper limit")}`;
      body.append(row([line.family, show(v, lo, hi), band], "td"));
    }
    table.append(head, body);
    box.append(table);
    const [lead, ...more] = verdictsAt(s, x);
    if (lead || more.length) {
      const line = document.createElement("p"), strong = document.createElement("b"), list = document.createElement("ul");
      strong.textContent = `Verdict at ${text}: ${lead}`.trim();
      line.append(strong);
      for (const sentence of more) {
        const item = document.createElement("li");
        item.textContent = sentence;
        list.append(item);
      }
      box.prepend(line);
      if (more.length) box.append(list);
    }
    if (plot) plot.redraw(false, false);
  }

  /* The verdict at one budget: who may be the best; then whom each family beats; the other pairs are open. */
  function verdictsAt(s, x) {
    const beats = new Map(), open = [], apart = [];
    const shown = names.filter((name) => s.shown.has(name));
    let pairs = 0;
    for (const pair of pairsOf(s)) {
      const [a, b] = pair.families;
      if (!s.shown.has(a) || !s.shown.has(b)) continue;
      pairs += 1;
      const range = pair.ranges.find((r) => r.start <= x * (1 + 1e-12) && x <= r.end * (1 + 1e-12));
      const verdict = range ? range.verdict : "not comparable";
      if (verdict === a || verdict === b) beats.set(verdict, [...(beats.get(verdict) || []), verdict === a ? b : a]);
      else (verdict === "undecided" ? open : apart).push(`${a} and ${b}`);
    }
    if (!pairs) return [];
    const listed = (all) => (all.length < 2 ? all.join("") : `${all.slice(0, -1).join(", ")} and ${all[all.length - 1]}`);
    const wins = [...beats].sort((p, q) => q[1].length - p[1].length);
    const said = wins.map(([name, others]) => `${name} is better than ${listed(others)}.`);
    if (pairs === 1) return said.length ? said : [open.length ? `Undecided between ${open[0]}.` : `${apart[0]} cannot be compared there.`];
    if (open.length && open.length <= 3) said.push(`Undecided: ${open.join("; ")}.`);
    else if (open.length) said.push(`The other ${open.length} of ${pairs} pairs are undecided.`);
    if (apart.length && apart.length <= 3) said.push(`Not comparable: ${apart.join("; ")}.`);
    else if (apart.length) said.push(`${apart.length} of ${pairs} pairs cannot be compared at this budget.`);
    const full = pairs === (shown.length * (shown.length - 1)) / 2;
    if (!full || apart.length) return [apart.length === pairs ? "no pair can be compared." : "", ...said];
    const beaten = new Set(wins.flatMap(([, others]) => others));
    const left = shown.filter((name) => !beaten.has(name));
    if (wins.length && wins[0][1].length === shown.length - 1) return [`${wins[0][0]} is better than all ${shown.length - 1} others.`, ...said.slice(1)];
    if (!wins.length) return ["nothing is decided."];
    return [left.length > 1 ? `the best is one of ${listed(left)}.` : "", ...said];
  }

  function refresh(keep) {
    const before = grid.length ? grid[Number(slider.value)] : null;
    draw();
    slider.max = String(Math.max(0, grid.length - 1));
    let at = Math.max(0, grid.findIndex((g) => g >= view.headline));
    if (keep && before !== null && grid.includes(before)) at = grid.indexOf(before);
    else if (state().axis !== "trials" || at < 0) at = Math.floor(grid.length / 3);
    slider.value = String(at);
    atBudget();
  }

  function sortable(table) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => head.querySelector("button").addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      heads.forEach((one) => one.setAttribute("aria-sort", "none"));
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
    const picture = $(`figure-${link.dataset.figure}`);
    if (picture) link.href = picture.src;
    else link.parentElement.hidden = true;
  });
  $("copy-methods").addEventListener("click", async () => {
    const text = $("methods-text");
    try {
      await navigator.clipboard.writeText(text.textContent);
      $("copied").textContent = "Copied.";
    } catch {
      getSelection().selectAllChildren(text);
      $("copied").textContent = "Selected: press Ctrl+C to copy.";
    }
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("change", (event) => refresh(event.target.name !== "axis"));
  slider.addEventListener("input", atBudget);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => refresh(true));
  let width = holder.clientWidth;
  new ResizeObserver(() => {
    if (Math.abs(holder.clientWidth - width) > 8) { width = holder.clientWidth; refresh(true); }
  }).observe(holder);
  sortable($("trials-table"));
  refresh(false);
})();
