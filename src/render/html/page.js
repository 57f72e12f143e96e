// Puts the page together: the timeline, and below it one view at a time.
let current = data.views[0];
let shownTimeline = null;

// A subject of the timeline has the same events as the view, so that a window can be cut out of it.
const subjectOf = (view) => line ? line.subjects.find((subject) => subject.views.includes(view.view)) : null;

function windowParts(subject) {
  const graph = subject.sources.length ? flame(windowProfile(subject)) : null;
  const tables = [true, false].map((byProcess) => {
    const found = windowRows(subject, byProcess);
    const title = `${subject.name} by ${byProcess ? 'process' : 'stack'}: ${windowText()}`;
    return table({...found, title, note: ''}, byProcess ? null : (row) => row.stack, line.frames);
  });
  return {graph, parts: [make('h2', {}, `${subject.name}: ${windowText()}`), graph, ...tables]};
}

// Each table with whether it is of the window alone. A row knows which one of the whole it is.
function viewTables(view) {
  const stacks = view.profile ? view.profile.stacks : [];
  const first = stackTable(view);
  return view.tables.map((whole, i) => {
    whole.rows.forEach((row, at) => { row.from = at; });
    const cut = selected ? cutTable(view, i) : null;
    const shown = cut || whole;
    const stackOf = whole === first ? (row) => stacks[row.from] && row.from >= 0 ? stacks[row.from][0] : null : null;
    return {cut, part: whole.rows.length ? table(shown, stackOf, view.profile && view.profile.frames) : ''};
  });
}

function series(shown) {
  const {first, last} = windowOf() || {};
  const begin = selected ? slotTime(first) : 0;
  const points = selected ? shown.points.filter((point) => point.at_ns >= begin && point.at_ns < slotTime(last + 1)) : shown.points;
  const end = selected ? slotTime(last + 1) : Math.max(1, ...points.map((point) => point.at_ns));
  const most = Math.max(1, ...points.map((point) => point.value));
  const drawn = points.map((point) => `${1000 * (point.at_ns - begin) / (end - begin)},${155 - 150 * point.value / most}`).join(' ');
  return make('section', {}, make('h2', {}, `${shown.title}, up to ${figure(shown.unit, most)} in ${selected ? windowText() : time(end)}`),
    make('div', {class: 'chart'}, draw('svg', {viewBox: '0 0 1000 160', preserveAspectRatio: 'none', height: 160}, draw('polyline', {class: 'line', points: drawn}))));
}

// What follows the window, and behind a line what does not.
function viewParts(view) {
  const cut = view.series.filter((one) => one.points.length).map(series);
  const whole = [];
  for (const {cut: ofWindow, part} of viewTables(view)) (ofWindow || !selected ? cut : whole).push(part);
  view.histograms.forEach((one, i) => {
    const ofWindow = selected ? cutHistogram(view, i) : null;
    if (one.buckets.length) (ofWindow || !selected ? cut : whole).push(histogram(ofWindow || one));
  });
  const shown = whole.filter((part) => part);
  if (!shown.length) return cut;
  const why = view.limits.length ? 'What else is here' : 'What it says';
  const text = ['Below this line: the whole recording.', ...view.limits, `${why} of parts of the time does not add up to this.`].join(' ');
  return [...cut, make('hr'), make('div', {class: 'faint whole'}, text), ...shown];
}

// The graph of a view: of the window, of a subject of the timeline in it, or of the whole recording.
function graphParts(view) {
  const isFirst = line && view === data.views[0] && data.views.length > 1;
  const subject = isFirst ? shownTimeline.subject() : selected ? subjectOf(view) : null;
  if (subject) return windowParts(subject);
  if (!view.profile || !view.profile.stacks.length) return {graph: null, parts: []};
  const cut = selected ? cutProfile(view) : null;
  const graph = flame(cut || view.profile);
  const title = cut ? make('h2', {}, `${view.title}: ${windowText()}`) : '';
  const note = selected && !cut ? make('div', {class: 'faint whole'}, 'This graph is of the whole recording.') : '';
  return {graph, parts: [title, note, graph]};
}

function caveatParts(view) {
  const lost = selected ? lostIn() : '';
  return [make('h2', {}, 'What limits this'), lost ? make('div', {class: 'loss'}, lost) : '',
    ...view.caveats.map((text) => make('div', {class: /^Lost: \d/.test(text) ? 'loss' : ''}, text))];
}

function show(view) {
  current = view;
  const {graph, parts: ofGraph} = graphParts(view);
  const totals = selected ? cutTotals(view) : view.totals;
  const said = totals.map((total) => `${total.name} ${figure(total.unit, total.value)}`).join(', ');
  const blank = selected ? view.totals.filter((total) => !totals.some((one) => one.name === total.name)).map((total) => total.name) : [];
  const parts = [make('h2', {}, view.title), make('div', {class: 'totals'}, selected && said ? `${windowText()}: ${said}` : said),
    blank.length ? make('div', {class: 'faint'}, `Not known for a part of the time: ${blank.join(', ')}.`) : '', ...ofGraph, ...viewParts(view), ...caveatParts(view)];
  if (data.how.length) parts.push(make('h2', {}, 'How it was recorded'), make('div', {class: 'wide how'}, make('table', {}, ...data.how.map(([name, value]) => make('tr', {}, make('td', {class: 'faint'}, name), make('td', {}, value))))));
  document.getElementById('main').replaceChildren(...parts.filter((part) => part));
  if (graph) graph.start();
  for (const button of document.querySelectorAll('#views button')) button.setAttribute('aria-pressed', button.textContent === view.view);
}

const theme = document.getElementById('theme');
theme.addEventListener('change', () => { document.documentElement.dataset.theme = theme.value; });
document.title = `memtrace: ${data.title}`;
document.getElementById('title').textContent = data.title;
document.getElementById('facts').textContent = data.facts;
document.getElementById('foot').textContent = `memtrace ${data.version}`;
document.getElementById('views').replaceChildren(...data.views.map((view) => make('button', {onclick: () => show(view)}, view.view)));
if (line) {
  line.subjects.forEach(unpack);
  shownTimeline = timeline(() => show(current));
}
if (data.views.length) show(data.views[0]);
