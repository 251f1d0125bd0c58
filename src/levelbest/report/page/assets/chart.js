/* The chart of the curves: hover reads off, a click chooses the budget, a drag zooms, a double click returns. */
/* Heights that show where the curves differ: from the budget that matters on, not from the first failures. What costs
   less than half of the picture is not cut off. */
function heightsOf(lines, s, kind) {
  if (s.range === "whole") return rangeOf(lines, s, kind);
  const near = rangeOf(lines, s, kind), all = rangeOf(lines, { ...s, range: "whole" }, kind);
  return all[1] - all[0] <= 2 * (near[1] - near[0]) ? all : near;
}
function rangeOf(lines, s, kind) {
  const all = lines.flatMap((l) => l.value).filter(known);
  let low = Math.min(...all), high = Math.max(...all);
  const reach = kind.reach ?? Infinity, last = Math.max(...lines.map((l) => l.x[l.x.length - 1]));
  const first = Math.min(...lines.map((l) => l.x[0]));
  const middle = Math.sqrt(Math.max(first, 1e-12) * Math.min(reach, last));
  const from = s.axis === "trials" ? Math.min(Math.max(view.headline, 1), middle) : middle;
  const inside = (l, i) => s.range === "whole" || (l.x[i] >= from * (1 - 1e-9) && l.x[i] <= reach * (1 + 1e-9)) || l.x.length < 3;
  const part = lines.flatMap((l) => l.value.filter((v, i) => known(v) && inside(l, i)));
  if (part.length) { low = Math.min(...part); high = Math.max(...part); }
  const limits = !s.bands ? [] : lines.flatMap((l) => [...l.low, ...l.high].filter((v, i) =>
    known(v) && inside(l, i % l.x.length) && l.x[i % l.x.length] <= reach * (1 + 1e-9)));
  const room = Math.max((high - low) * (s.range === "whole" ? 0.34 : 0.6), 0.02 * Math.abs(high - low || high), 1e-12);
  const span = [Math.max(low - room, Math.min(low, ...limits)), Math.min(high + room, Math.max(high, ...limits))];
  for (const value of Object.values(view.published)) { span[0] = Math.min(span[0], value); span[1] = Math.max(span[1], value); }
  const pad = 0.04 * (span[1] - span[0] || 1);
  const [floor, roof] = view.bounds;
  const bottom = known(floor) && span[0] - pad < floor ? Math.min(floor, span[0]) : span[0] - pad;
  const top = known(roof) && span[1] + pad > roof ? Math.max(roof, span[1]) : span[1] + pad;
  if (s.heights !== "log") return [bottom < 0 && Math.min(...all) > 0 ? 0 : bottom, top];
  const least = Math.min(...all, ...limits.filter((v) => v > 0));
  return [Math.max(bottom, least * 0.9), top];
}

/* Columns of one family on the common grid: line within the verdicts' reach, faded beyond, and its band. */
function columnsOf(line, grid, reach, span, bands) {
  const at = new Map(line.x.map((x, i) => [x, i]));
  const within = (x) => x <= reach * (1 + 1e-9);
  const pick = (wanted) => grid.map((x) => (at.has(x) ? wanted(at.get(x), x) : undefined));
  const closed = (i) => known(line.low[i]) && known(line.high[i]);
  const outside = (i) => i < 0 || i >= line.x.length || line.low[i] > span[1] || line.high[i] < span[0];
  const seen = (i) => closed(i) && !(outside(i) && outside(i - 1) && outside(i + 1));
  /* Where a limit is missing the band is open on that side: it fades from the curve to the edge of the picture. */
  const open = (i, limit) => i >= 0 && i < line.x.length && known(line.value[i]) && !known(limit[i]);
  const touch = (i, limit) => open(i, limit) || open(i + 1, limit) || open(i - 1, limit);
  const edge = Math.max(...line.x.filter(within), -Infinity);
  const columns = [
    { values: pick((i, x) => (within(x) ? line.value[i] : null)), kind: "line" },
    { values: pick((i, x) => (!within(x) || x === edge ? line.value[i] : null)), kind: "faded" },
  ];
  if (bands) {
    columns.push(
      { values: pick((i, x) => (within(x) && seen(i) ? line.high[i] : null)), low: pick((i, x) => (within(x) && seen(i) ? line.low[i] : null)), kind: "band", alpha: "26" },
      ...[[line.high, line.low, 1], [line.low, line.high, 0]].flatMap(([limit, other, top]) => (line.x.some((x, i) => within(x) && open(i, limit)) ? [{
        values: pick((i, x) => (within(x) && touch(i, limit) ? (known(limit[i]) ? limit[i] : span[top]) : null)),
        low: pick((i, x) => (within(x) && touch(i, limit) ? (known(other[i]) && !known(limit[i]) ? other[i] : line.value[i]) : null)), kind: "band", fade: top }] : [])),
    );
  }
  return columns;
}

/* A chevron where a curve leaves the picture. */
function chevrons(u, line, colour, span) {
  const c = u.ctx, r = devicePixelRatio, spans = [[span[0], 1, u.bbox.top + u.bbox.height], [span[1], -1, u.bbox.top]];
  c.save(); c.fillStyle = colour;
  for (const [edge, side, y] of spans) {
    const outside = (v) => known(v) && (v - edge) * side < 0;
    line.value.forEach((v, i) => {
      const next = line.value[i + 1];
      if (!known(v) || !known(next) || outside(v) === outside(next)) return;
      const share = (edge - v) / (next - v), from = u.valToPos(line.x[i], "x", true), to = u.valToPos(line.x[i + 1], "x", true), x = from + share * (to - from);
      if (x < u.bbox.left || x > u.bbox.left + u.bbox.width) return;
      c.beginPath(); c.moveTo(x - 5 * r, y - 7 * r * side); c.lineTo(x + 5 * r, y - 7 * r * side); c.lineTo(x, y); c.fill();
    });
  }
  c.restore();
}
/* The curve under the pointer, above all others. */
function highlight(u, line, colour) {
  const c = u.ctx, r = devicePixelRatio;
  c.save(); c.beginPath(); c.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height); c.clip();
  c.strokeStyle = colour; c.lineWidth = 3.4 * r; c.lineJoin = "round"; c.beginPath();
  line.x.forEach((x, i) => { if (known(line.value[i])) c.lineTo(u.valToPos(x, "x", true), u.valToPos(line.value[i], "y", true)); });
  c.stroke(); c.restore();
}

function drawChart(holder, s, kind, grid, zoom, hooks) {
  const lines = kind.lines.filter((line) => s.shown.has(line.family));
  holder.replaceChildren();
  if (!lines.length) { holder.textContent = say("none_shown"); return null; }
  const width = holder.clientWidth || 640, height = Math.max(240, Math.min(360, Math.round(width * 0.56)));
  /* Of many families those in colour are named at the ends of their lines. */
  const named = lines.filter((line) => hueOf(line.family) !== GREY), wide = width >= 480 && named.length > 0 && 15 * named.length <= height - 40;
  const span = zoom ? zoom.y : heightsOf(lines, s, kind);
  const first = grid[0], last = grid[grid.length - 1];
  const ends = zoom ? zoom.x : first < last ? [first, last] : s.log ? [first * 0.8, first * 1.25] : [first - 0.5, first + 0.5];
  const reach = kind.reach ?? Infinity;
  const data = [grid], series = [{}], bands = [];
  const drawn = lines.map((line) => ({ line, style: styleOf(line.family), columns: columnsOf(line, grid, reach, span, s.bands) }));
  const hidden = { stroke: "transparent", points: { show: false }, spanGaps: false, pxAlign: 0 };
  for (const { style, columns } of drawn) {
    for (const column of columns.filter((one) => one.kind === "band")) {
      data.push(column.values, column.low);
      series.push(hidden, hidden);
      bands.push({ series: column.fade === 0 ? [data.length - 1, data.length - 2] : [data.length - 2, data.length - 1], fill: column.fade === undefined ? style.colour + column.alpha : (u) => fading(u, style.colour, column.fade) });
    }
  }
  for (const { line, style, columns } of drawn.slice().sort((p, q) => q.style.grey - p.style.grey)) {
    for (const column of columns.filter((one) => one.kind !== "band")) {
      data.push(column.values);
      series.push({ pxAlign: 0, stroke: column.kind === "line" ? style.colour : `${style.colour}66`, width: style.grey ? (column.kind === "line" ? 1 : 0.6) : column.kind === "line" ? 2 : 1.3, dash: wide ? [] : style.dash,
        points: { show: line.x.length < 3 && column.kind === "line", size: 7, fill: style.colour } });
    }
  }
  const side = wide ? Math.min(width / 3, roomFor(named.map((l) => view.families[l.family].name))) : 14;
  return new uPlot({
    width, height, padding: [12, side, 0, 0],
    scales: { x: { time: false, distr: s.log ? 3 : 1, range: () => ends },
      y: { distr: s.heights === "log" ? 3 : 1, range: () => span } },
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: true, y: true, uni: 24, setScale: false }, bind: { dblclick: () => () => null } },
    series, bands,
    axes: chartAxes(s.axis, view.cost_unit, s.log),
    hooks: {
      drawClear: [(u) => {
        if (!(reach < last)) return;
        const x = Math.max(u.bbox.left, u.valToPos(reach, "x", true)), c = u.ctx;
        c.save(); c.fillStyle = css("--wash");
        const room = Math.max(0, u.bbox.left + u.bbox.width - x), text = say("too_few");
        c.fillRect(x, u.bbox.top, room, u.bbox.height);
        c.font = `${11.5 * devicePixelRatio}px system-ui, sans-serif`; c.fillStyle = css("--soft"); c.textAlign = "center"; c.textBaseline = "alphabetic";
        if (c.measureText(text).width < room - 12 * devicePixelRatio) c.fillText(text, x + room / 2, u.bbox.top + (view.direction === "min" ? 18 * devicePixelRatio : u.bbox.height - 8 * devicePixelRatio));
        c.restore();
      }],
      draw: [(u) => {
        const c = u.ctx, ratio = devicePixelRatio;
        c.clearRect(u.bbox.left, 0, u.bbox.width, u.bbox.top); /* of bands beyond the picture an edge shows */
        c.save(); c.setLineDash([6 * ratio, 4 * ratio]); c.textAlign = "left";
        c.font = `${12 * ratio}px system-ui, sans-serif`;
        for (const [name, value] of Object.entries(view.published)) {
          const y = u.valToPos(value, "y", true);
          if (y < u.bbox.top || y > u.bbox.top + u.bbox.height) continue;
          const family = view.families.findIndex((one) => one.name === name);
          if (family >= 0 && !s.shown.has(family)) continue;
          c.strokeStyle = c.fillStyle = family < 0 ? css("--soft") : styleOf(family).colour;
          c.beginPath(); c.moveTo(u.bbox.left, y); c.lineTo(u.bbox.left + u.bbox.width, y); c.stroke();
          c.fillText(family < 0 ? name : `${name}, published`, u.bbox.left + 6 * ratio, y - 4 * ratio);
        }
        c.restore();
        for (const { line, style } of drawn) if (!style.grey) chevrons(u, line, style.colour, span);
        const lit = drawn.find(({ line }) => line.family === hooks.lit());
        if (lit) highlight(u, lit.line, lit.style.grey ? css("--ink") : lit.style.colour);
        if (wide) labelEnds(u, drawn.filter(({ style }) => !style.grey).map(({ line, style }) => ({ name: view.families[line.family].name, colour: style.colour, y: endOf(u, line, ends) })));
        hooks.drawn(u);
      }],
      setSelect: [(u) => {
        const box = u.select;
        if (box.width < 12 && box.height < 12) return;
        const value = (at, scale) => u.posToVal(at, scale);
        const x = box.width >= 12 ? [value(box.left, "x"), value(box.left + box.width, "x")] : ends;
        const y = box.height >= 12 && box.height < u.bbox.height / devicePixelRatio - 2 ? [value(box.top + box.height, "y"), value(box.top, "y")] : span;
        setTimeout(() => hooks.zoomed({ x, y })); /* once uPlot is done with this drag */
      }],
      setCursor: [(u) => hooks.hover(u)],
      ready: [(u) => hooks.ready(u)],
    },
  }, data, holder);
}
/* Where a line leaves the picture: its last point within the budgets shown. */
function endOf(u, line, ends) {
  let i = -1;
  line.x.forEach((x, k) => { if (x <= ends[1] * (1 + 1e-9) && known(line.value[k])) i = k; });
  return i < 0 ? NaN : Math.max(u.bbox.top, Math.min(u.bbox.top + u.bbox.height, u.valToPos(line.value[i], "y", true)));
}
