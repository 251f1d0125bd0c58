/* Tapes: verdicts over the budget, as coloured, hatched and dashed stretches on the axis of a chart. */
const UNDECIDED = -1, APART = -2;
let patterns = 0;

/* Diagonal stripes in the colours of those who may be the best; grey where they are many. */
function hatch(defs, possible) {
  const id = `hatch-${++patterns}`, step = 8, width = step * Math.max(1, possible.length);
  const pattern = draw("pattern", { id, width, height: 8, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" });
  pattern.append(draw("rect", { width, height: 8, class: "open" }));
  if (!possible.length) pattern.append(draw("path", { d: "M2 0V8", class: "grey" }));
  possible.forEach((i, k) => pattern.append(draw("rect", { x: step * k, width: step, height: 8, class: `p${hueOf(i)}` })));
  defs.append(pattern);
  return `url(#${id})`;
}
/* Stretches that look alike are drawn as one. */
function merged(segments, most) {
  const found = [];
  for (const [start, end, code, possible] of segments) {
    const few = code === UNDECIDED && possible && possible.length <= most ? possible : [];
    const last = found[found.length - 1];
    if (last && last.code === code && String(last.possible) === String(few)) last.end = end;
    else found.push({ start, end, code, possible: few, counts: [] });
    if (code === UNDECIDED && possible) found[found.length - 1].counts.push(possible.length);
  }
  return found;
}
/* Of more contenders than can be striped, how many they are. */
function undecided({ counts }) {
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  return least > 1 ? say("may_be_best", { count: least < most ? `${least}–${most}` : most }) : say("undecided");
}
/* A stretch reaches half way to those beside it, within the picture. */
function endsOf(part, before, after, place, left, right) {
  return [Math.max(left, place(before ? (before.end + part.start) / 2 : part.start)), Math.min(right, place(after ? (part.end + after.start) / 2 : part.end))];
}
/* One row of stretches between x = left and right; `place` turns a budget into x. */
function tapeRow(svg, defs, segments, place, { left, right, top, height, names, text, least = 2 }) {
  segments.forEach((part, i) => {
    const before = segments[i - 1], after = segments[i + 1];
    const [from, to] = endsOf(part, before, after, place, left, right);
    if (to <= left || from >= right) return;
    const width = Math.max(least, to - from - 1);
    const fill = part.code === UNDECIDED ? hatch(defs, part.possible) : null;
    const kind = part.code >= 0 ? `p${hueOf(part.code)}` : part.code === APART ? "apart" : null;
    const box = draw("rect", { x: from, y: top, width, height, rx: Math.min(4, width / 3), class: kind, fill, "data-code": part.code });
    const title = draw("title");
    title.textContent = text(part);
    box.append(title);
    svg.append(box);
    if (!names) return;
    if (part.code === UNDECIDED && part.possible.length) return;
    const said = part.code >= 0 ? names[part.code] : part.code === APART ? say("too_few") : undecided(part);
    const short = part.code === UNDECIDED ? "?" : part.code === APART ? (width >= 58 ? say("too_few_short") : "") : cut(said, Math.floor((width - 10) / 7.4));
    const label = width >= 7.4 * said.length + 10 ? said : width >= 34 || (short === "?" && width >= 14) ? short : "";
    if (label && part.code === UNDECIDED) {
      const room = 7.2 * label.length + 8;
      svg.append(draw("rect", { x: from + width / 2 - room / 2, y: top + 4, width: room, height: height - 8, rx: 3, class: "open", "pointer-events": "none" }));
    }
    if (label) {
      const node = draw("text", { x: from + width / 2, y: top + height / 2 + 4.3, class: part.code >= 0 ? "on" : "off", "pointer-events": "none" });
      node.textContent = label;
      svg.append(node);
    }
  });
}
/* The ranges below a row, those for which there is room. */
function tapeRanges(svg, segments, place, { left, right, y, show }) {
  let last = -Infinity;
  segments.forEach((part, i) => {
    if (part.code === APART) return;
    const before = segments[i - 1], after = segments[i + 1];
    const [from, to] = endsOf(part, before, after, place, left, right);
    const text = show(part.start, part.end), half = 3.6 * text.length + 4, x = Math.max(left + half - 8, (from + to) / 2);
    if (to <= from || x - half < last || half * 2 > to - from + 22) return;
    last = x + half;
    const node = draw("text", { x, y });
    node.textContent = text;
    svg.append(node);
  });
}
