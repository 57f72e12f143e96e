// The timeline: one subject's costs over time, a lane for each figure of the machine, what was lost,
// and the window that its reader selects.
const kColours = ['#4e79a7', '#f28e2b', '#59a14f', '#e15759', '#b07aa1', '#edc948', '#76b7b2', '#9c755f', '#9a9aa3'];
const kMostAreas = 8;
const kAreaHeight = 150, kLaneHeight = 30, kGap = 8, kLabels = 168;

// The largest sources over the whole time, the others as one.
function areasOf(subject, byProcess) {
  const groups = new Map();
  subject.sources.forEach((whose, source) => {
    const name = sourceName(subject, source, byProcess);
    const key = byProcess ? name : `${whose[1]} ${name}`;
    const group = groups.get(key) || {name, values: new Float64Array(line.slots), stack: byProcess || whose[1] < 0 ? null : line.stacks[whose[1]]};
    valuesOf(subject, source).forEach((value, slot) => { group.values[slot] += value; });
    group.isRest = key.endsWith('[other stacks]') || key.endsWith('[other processes]');
    groups.set(key, group);
  });
  const most = (group) => group.values.reduce((sum, value) => sum + value, 0);
  const sorted = [...groups.values()].sort((one, two) => one.isRest - two.isRest || most(two) - most(one));
  const others = sorted.splice(kMostAreas);
  if (others.length) {
    const values = new Float64Array(line.slots);
    others.forEach((group) => group.values.forEach((value, slot) => { values[slot] += value; }));
    sorted.push({name: others.length === 1 ? '1 other' : `${count.format(others.length)} others`, values, stack: null});
  }
  return sorted;
}

function timeline(onselect) {
  const state = {subject: 0, byProcess: false};
  const chart = make('div', {class: 'chart'});
  const legend = make('div', {class: 'legend'});
  const shown = make('div', {class: 'shown'});
  const said = make('span', {class: 'faint window-text', 'aria-live': 'polite'});
  let width = 1000;
  const x = (slot) => kLabels + (width - kLabels) * slot / line.slots;
  const xOfTime = (ns) => x(Math.min(line.slots, Math.max(0, (ns - line.start_ns) / line.slot_ns)));
  const slotAt = (clientX) => Math.min(line.slots - 1, Math.max(0, Math.floor((clientX - chart.getBoundingClientRect().left - kLabels) / (width - kLabels) * line.slots)));
  let areas = [];

  function drawAreas(parts) {
    const subject = line.subjects[state.subject];
    areas = subject ? areasOf(subject, state.byProcess) : [];
    const unit = subject ? subject.figures[0].unit : 'count';
    const sums = new Float64Array(line.slots);
    areas.forEach((area) => area.values.forEach((value, slot) => { sums[slot] += Math.max(0, value); }));
    const most = Math.max(1, ...sums);
    const y = (value) => 4 + (kAreaHeight - 4) * (1 - value / most);
    parts.push(draw('rect', {class: 'ground', x: kLabels, y: 0, width: width - kLabels, height: kAreaHeight}));
    const base = new Float64Array(line.slots);
    areas.forEach((area, i) => {
      const upper = [], lower = [];
      for (let slot = 0; slot < line.slots; ++slot) {
        lower.push(`${x(slot)},${y(base[slot])} ${x(slot + 1)},${y(base[slot])}`);
        base[slot] += Math.max(0, area.values[slot]);
        upper.push(`${x(slot)},${y(base[slot])} ${x(slot + 1)},${y(base[slot])}`);
      }
      const back = lower.join(' ').split(' ').reverse().join(' ');
      parts.push(draw('polygon', {points: `${upper.join(' ')} ${back}`, fill: kColours[i]}));
    });
    if (!subject) return 0;
    const what = subject.has_level ? `live bytes (${subject.name})` : `${subject.name}: ${subject.figures[0].name}`;
    parts.push(draw('text', {x: 0, y: 14}, what), draw('text', {class: 'faint', x: 0, y: 30}, `up to ${figure(unit, most)}${subject.has_level ? '' : ` in ${time(line.slot_ns)}`}`));
    legend.replaceChildren(...areas.map((area, i) => make('span', {title: 'Show the stack', onclick: () => showStack(area)}, make('i', {style: `background:${kColours[i]}`}), area.name)));
    return kAreaHeight + kGap;
  }
  function showStack(area) { shown.replaceChildren(area.stack ? stackList(area.stack, line.frames) : ''); }

  function drawLane(lane, top, parts) {
    const known = lane.values.filter((value) => value !== null);
    const most = Math.max(1, ...known);
    const y = (value) => top + kLaneHeight - (kLaneHeight - 3) * value / most;
    parts.push(draw('rect', {class: 'ground', x: kLabels, y: top, width: width - kLabels, height: kLaneHeight}));
    if (lane.level) {
      let last = null;
      const points = [];
      lane.values.forEach((value, slot) => {
        last = value ?? last;
        if (last !== null) points.push(`${x(slot)},${y(last)} ${x(slot + 1)},${y(last)}`);
      });
      parts.push(draw('polyline', {class: 'line', points: points.join(' ')}));
    } else {
      lane.values.forEach((value, slot) => { if (value) parts.push(draw('rect', {class: 'bars', x: x(slot), y: y(value), width: Math.max(1, x(1) - x(0) - .5), height: top + kLaneHeight - y(value)})); });
    }
    parts.push(draw('text', {x: 0, y: top + 13}, lane.name), draw('text', {class: 'faint', x: 0, y: top + 26}, `up to ${figure(lane.unit, most)}`));
  }

  // Where events are missing, all figures are too small: the band is over everything.
  function drawLosses(height, parts) {
    for (const loss of line.losses) {
      const from = xOfTime(loss.from_ns);
      const wide = Math.max(2, xOfTime(loss.to_ns) - from);
      const band = draw('rect', {class: 'lost', x: from, y: 0, width: wide, height});
      band.append(draw('title', {}, `${count.format(loss.count)} events lost`));
      parts.push(band, draw('rect', {class: 'lost-edge', x: from, y: 0, width: wide, height: 4}));
    }
    for (const mark of line.marks) {
      const at = xOfTime(mark.at_ns);
      const stroke = draw('line', {class: 'mark', x1: at, x2: at, y1: 0, y2: height});
      stroke.append(draw('title', {}, `${mark.text} at ${time(mark.at_ns)}`));
      parts.push(stroke);
    }
    line.marks.slice(0, 12).forEach((mark, i) => {
      const at = xOfTime(mark.at_ns);
      parts.push(draw('text', {class: 'loss', x: at > width * .8 ? at - 4 : at + 4, y: 14 + 13 * (i % 5), 'text-anchor': at > width * .8 ? 'end' : 'start'}, mark.text));
    });
  }

  function drawAxis(top, parts) {
    const span = line.slots * line.slot_ns;
    let step = 10 ** Math.floor(Math.log10(span / 5));
    for (const factor of [5, 2]) if (span / (step * factor) >= 5) { step *= factor; break; }
    for (let at = Math.ceil(line.start_ns / step) * step; at <= line.start_ns + span; at += step) {
      const anchor = xOfTime(at) > width - 20 ? 'end' : 'middle';
      parts.push(draw('text', {class: 'faint', x: xOfTime(at), y: top + 12, 'text-anchor': anchor}, time(at)));
    }
  }

  const cursor = draw('line', {class: 'cursor', visibility: 'hidden'});
  const box = draw('rect', {class: 'window', x: 0, y: 0, width: 0, height: 0});
  let height = 0;
  function place() {
    box.setAttribute('x', selected ? x(selected.first) : 0);
    box.setAttribute('width', selected ? x(selected.last + 1) - x(selected.first) : 0);
    box.setAttribute('height', height);
    said.textContent = selected ? `selected: ${windowText()}` : 'Drag over the timeline to select a window: all below follows it.';
    from.value = selected ? (slotTime(selected.first) / 1e9).toFixed(3) : '';
    to.value = selected ? (slotTime(selected.last + 1) / 1e9).toFixed(3) : '';
    whole.disabled = !selected;
  }
  function redraw() {
    width = Math.max(500, chart.clientWidth || 1000);
    const parts = [];
    let top = drawAreas(parts);
    for (const lane of line.lanes) { drawLane(lane, top, parts); top += kLaneHeight + kGap; }
    height = Math.max(0, top - kGap);
    drawLosses(height, parts);
    drawAxis(height, parts);
    cursor.setAttribute('y2', height);
    chart.replaceChildren(draw('svg', {viewBox: `0 0 ${width} ${height + 18}`, height: height + 18, role: 'img', 'aria-label': 'timeline'}, ...parts, box, cursor));
    place();
  }
  function select(first, last) {
    selected = first === null || (first === 0 && last === line.slots - 1) ? null : {first: Math.min(first, last), last: Math.max(first, last)};
    place();
    onselect();
  }
  function point(event) {
    const slot = slotAt(event.clientX);
    cursor.setAttribute('visibility', 'visible');
    cursor.setAttribute('x1', x(slot + .5));
    cursor.setAttribute('x2', x(slot + .5));
    const subject = line.subjects[state.subject];
    const parts = subject ? [`${subject.name} ${figure(subject.figures[0].unit, areas.reduce((sum, area) => sum + area.values[slot], 0))}`] : [];
    for (const lane of line.lanes) if (lane.values[slot]) parts.push(`${lane.name} ${figure(lane.unit, lane.values[slot])}`);
    values.textContent = `at ${time(slotTime(slot))}: ${parts.join(', ') || 'nothing'}`;
  }

  let begun = null;
  chart.addEventListener('pointerdown', (event) => { begun = slotAt(event.clientX); chart.setPointerCapture?.(event.pointerId); });
  chart.addEventListener('pointermove', (event) => {
    point(event);
    if (begun === null) return;
    const at = slotAt(event.clientX);
    selected = {first: Math.min(begun, at), last: Math.max(begun, at)};
    place();
  });
  chart.addEventListener('pointerup', (event) => {
    if (begun === null) return;
    const first = begun;
    begun = null;
    select(first, slotAt(event.clientX));
  });
  const typed = () => {
    const slot = (input, other) => input.value === '' ? other : Math.round((input.value * 1e9 - line.start_ns) / line.slot_ns);
    const first = Math.min(line.slots - 1, Math.max(0, slot(from, 0)));
    select(first, Math.min(line.slots - 1, Math.max(first, slot(to, line.slots) - 1)));
  };
  const from = make('input', {type: 'number', step: 'any', placeholder: 'from, s', 'aria-label': 'from, in seconds', onchange: typed});
  const to = make('input', {type: 'number', step: 'any', placeholder: 'to, s', 'aria-label': 'to, in seconds', onchange: typed});
  const whole = make('button', {onclick: () => select(null)}, 'whole recording');
  const values = make('div', {class: 'note values'});
  const subjects = choice('subject', line.subjects.map((subject) => subject.name), 0, (chosen) => { state.subject = chosen; shown.replaceChildren(); redraw(); onselect(); });
  const by = choice('areas by', ['by stack', 'by process'], 0, (chosen) => { state.byProcess = chosen === 1; shown.replaceChildren(); redraw(); });
  chart.addEventListener('pointerleave', () => { cursor.setAttribute('visibility', 'hidden'); values.textContent = ''; });
  const section = document.getElementById('timeline');
  section.replaceChildren(make('div', {class: 'tools'}, line.subjects.length ? subjects : '', line.subjects.length ? by : '', from, to, whole, said), chart, legend, values, shown);
  section.hidden = false;
  redraw();
  let drawn = chart.clientWidth;
  new ResizeObserver(() => { if (chart.clientWidth !== drawn) { drawn = chart.clientWidth; redraw(); } }).observe(chart);
  return {subject: () => line.subjects[state.subject]};
}
