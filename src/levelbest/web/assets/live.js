"use strict";
(function () {
  /* Everything that comes from the study is set as text, never as markup. */
  const $ = (id) => document.getElementById(id);
  const holder = $("chart");
  const dashes = [[], [9, 3], [2, 2], [10, 3, 2, 3], [5, 2], [14, 4], [], []];
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  let plot = null, now = null, drawn = "";

  function make(tag, text, attributes) {
    const one = document.createElement(tag);
    if (text !== undefined && text !== null) one.textContent = String(text);
    for (const [key, value] of Object.entries(attributes || {})) one.setAttribute(key, value);
    return one;
  }
  const show = (value) => (value === null || value === undefined ? "–" : Number(value.toPrecision(5)).toString());

  function families(state) {
    $("families").tBodies[0].replaceChildren(...state.families.map((one, i) => {
      const row = make("tr"), name = make("th", null, { scope: "row" });
      name.append(make("span", null, { class: `dot f${i % 8}`, "aria-hidden": "true" }), ` ${one.family}`);
      const bar = make("progress", null, { max: Math.max(one.planned, 1), value: one.finished });
      bar.setAttribute("aria-label", `${one.finished} of ${one.planned} trials of ${one.family}`);
      const cell = make("td");
      cell.append(bar);
      row.append(name, cell);
      for (const [key, label] of [["planned", "planned"], ["finished", "finished"], ["running", "running"],
        ["failed", "failed"], ["prefix", "in the curve"], ["best", null]]) {
        row.append(make("td", one[key], label && { "data-label": label }));
      }
      return row;
    }));
  }

  function values(state) {
    $("values").tBodies[0].replaceChildren(...state.curves.flatMap((curve) => curve.x.map((x, i) => {
      const row = make("tr");
      row.append(make("th", curve.family, { scope: "row" }), make("td", x));
      for (const column of [curve.value, curve.low, curve.high]) row.append(make("td", show(column[i])));
      return row;
    })));
  }

  function chart(state) {
    const key = JSON.stringify(state.curves) + holder.clientWidth + css("--paper");
    if (key === drawn) return;
    drawn = key;
    if (plot) { plot.destroy(); plot = null; }
    holder.replaceChildren();
    if (!state.curves.length) { holder.textContent = "No finished trial to draw yet."; return; }
    /* The curves fill the picture; a band may stretch it to three times their height and is cut off beyond. */
    const all = state.curves.flatMap((c) => c.value);
    const limits = state.curves.flatMap((c) => [...c.low, ...c.high]).filter((v) => v !== null);
    let low = Math.min(...all), high = Math.max(...all);
    const room = Math.max(high - low, 0.02 * Math.abs(high), 1e-12);
    low = Math.max(low - room, Math.min(low, ...limits));
    high = Math.min(high + room, Math.max(high, ...limits));
    const pad = 0.04 * (high - low || 1);
    low -= pad; high += pad;
    const grid = [...new Set(state.curves.flatMap((c) => c.x))].sort((a, b) => a - b);
    const last = grid[grid.length - 1];
    const data = [grid], series = [{}], bands = [];
    const names = state.families.map((one) => one.family);
    for (const curve of state.curves) {
      const at = names.indexOf(curve.family) % 8, colour = css(`--c${at}`);
      const by = new Map(curve.x.map((x, i) => [x, i]));
      const spread = (pick) => grid.map((x) => (by.has(x) ? pick(by.get(x)) : undefined));
      /* A missing limit runs to the edge of the picture; where both are missing there is no band. */
      const known = (i) => curve.low[i] !== null || curve.high[i] !== null;
      data.push(spread((i) => (known(i) ? curve.high[i] ?? high : null)), spread((i) => (known(i) ? curve.low[i] ?? low : null)));
      for (let k = 0; k < 2; k++) series.push({ stroke: "transparent", points: { show: false }, spanGaps: false });
      bands.push({ series: [data.length - 2, data.length - 1], fill: `${colour}24` });
      data.push(spread((i) => curve.value[i]));
      series.push({ label: curve.family, stroke: colour, width: 2, dash: dashes[at], points: { show: curve.x.length < 3 } });
    }
    plot = new uPlot({
      width: holder.clientWidth || 640,
      height: Math.max(260, Math.min(420, Math.round((holder.clientWidth || 640) * 0.48))),
      scales: { x: { time: false, distr: last > 30 ? 3 : 1, range: [1, Math.max(last, 2)] }, y: { range: [low, high] } },
      legend: { show: false },
      cursor: { show: false },
      series, bands,
      axes: [
        { stroke: css("--soft"), grid: { show: false }, ticks: { stroke: css("--line") }, label: "budget (trials)", labelSize: 22,
          values: (_, ticks) => ticks.map((t) => (t === null || t % 1 ? "" : String(t))) },
        { stroke: css("--soft"), grid: { stroke: css("--line"), width: 0.5 }, ticks: { show: false }, size: 64,
          label: `median best ${state.score}`, labelSize: 22 },
      ],
    }, data, holder);
  }

  /* A failure keeps its element, so that a log that someone reads stays open while others arrive. */
  const known = new Map();
  function failures(state) {
    const shown = state.failures.length;
    $("failures-text").textContent = !state.n_failed ? "None so far."
      : `${state.n_failed} ${state.n_failed === 1 ? "trial" : "trials"} failed; each counts as the worst score.` +
        (shown < state.n_failed ? ` The latest ${shown} are listed.` : "") + " Open one to read the end of its log.";
    const wanted = new Set(state.failures.map((one) => JSON.stringify([one.family, one.trial])));
    for (const [key, item] of known) if (!wanted.has(key)) { item.remove(); known.delete(key); }
    for (const one of state.failures.slice().reverse()) { /* the latest comes first */
      const key = JSON.stringify([one.family, one.trial]);
      if (known.has(key)) continue;
      const item = make("li"), details = make("details");
      details.append(make("summary", `${one.family}, trial ${one.trial}: ${one.status}${one.reason ? `, ${one.reason}` : ""}`));
      details.addEventListener("toggle", () => { if (details.open && details.childElementCount === 1) load(details, one); });
      item.append(details);
      known.set(key, item);
      $("failures-list").prepend(item);
    }
  }
  async function load(details, one) {
    const config = make("p", "Reading the log."), log = make("pre", "", { class: "log", tabindex: "0" });
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
    $("news").textContent = `${left}Last record ${ago} ago.`;
  }
  setInterval(news, 5000);

  function refresh(state) {
    now = state;
    const total = (key) => state.families.reduce((sum, one) => sum + one[key], 0);
    const stopped = state.session.stopped;
    const how = state.finished ? "finished" : stopped ? `stopped (${stopped})` : `running on ${state.session.engine || "?"}`;
    $("state").textContent = `${total("finished")} of ${total("planned")} trials, ${total("running")} running: ${how}.`;
    news();
    document.title = `${total("finished")}/${total("planned")} ${state.study}`;
    $("problem").textContent = state.problem;
    $("problem").hidden = !state.problem;
    $("report-link").hidden = !state.finished;
    $("verdict-text").textContent = state.verdict;
    $("verdict-box").hidden = !state.verdict;
    $("confidence").textContent = String(100 * state.confidence);
    $("note").textContent = state.note;
    $("note").hidden = !state.note;
    $("head").textContent = state.head;
    $("records").textContent = String(state.records);
    families(state); values(state); chart(state); failures(state);
  }

  const source = new EventSource("events");
  source.onmessage = (event) => refresh(JSON.parse(event.data));
  source.onerror = () => {
    $("problem").textContent = "The page has lost its server; what is shown is the last that was known. It tries again by itself.";
    $("problem").hidden = false;
  };
  const again = () => { if (now) chart(now); };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
  new ResizeObserver(again).observe(holder);
})();
