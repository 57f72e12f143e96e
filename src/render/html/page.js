// Puts the page together: the timeline, and below it one view at a time.
let current = data.views[0];
let shownTimeline = null;

// A subject of the timeline has the same events as the view, so that a window can be cut out of it.
const subjectOf = (view) => line ? line.subjects.find((subject) => subject.views.includes(view.view)) : null;

// Rows with a moment lie in the window or not.
function withinWindow(shown) {
  const at = shown.columns.findIndex((column) => column.name === 'at_ns');
  if (!selected || at < 0) return null;
  const {first, last} = windowOf();
  const rows = shown.rows.filter((row) => row[at] >= slotTime(first) && row[at] < slotTime(last + 1));
  return {...shown, rows, title: `${shown.title}: ${windowText()}`};
}

function windowParts(subject) {
  const graph = subject.sources.length ? flame(windowProfile(subject)) : null;
  const tables = [true, false].map((byProcess) => {
    const found = windowRows(subject, byProcess);
    const title = `${subject.name} by ${byProcess ? 'process' : 'stack'}: ${windowText()}`;
    return table({...found, title, note: ''}, byProcess ? null : (row) => row.stack, line.frames);
  });
  return {graph, parts: [make('h2', {}, `${subject.name}: ${windowText()}`), graph, ...tables]};
}

function viewTables(view) {
  const stacks = view.profile ? view.profile.stacks : [];
  const first = view.tables.find((one) => one.columns.some((column) => column.unit === 'stack'));
  return view.tables.filter((one) => one.rows.length).map((one) => {
    const rowStack = new Map(one === first ? one.rows.slice(0, stacks.length).map((row, i) => [row, stacks[i][0]]) : []);
    return table(withinWindow(one) || one, one === first ? (row) => rowStack.get(row) : null, view.profile && view.profile.frames);
  });
}

function series(shown) {
  const last = Math.max(1, ...shown.points.map((point) => point.at_ns));
  const most = Math.max(1, ...shown.points.map((point) => point.value));
  const points = shown.points.map((point) => `${1000 * point.at_ns / last},${155 - 150 * point.value / most}`).join(' ');
  return make('section', {}, make('h2', {}, `${shown.title}, up to ${figure(shown.unit, most)} in ${time(last)}`),
    make('div', {class: 'chart'}, draw('svg', {viewBox: '0 0 1000 160', preserveAspectRatio: 'none', height: 160}, draw('polyline', {class: 'line', points}))));
}

function wholeParts(view) {
  const parts = [];
  if (selected) parts.push(make('div', {class: 'faint whole'}, 'Below this line: the whole recording, but for tables with the times of their rows.'), make('hr'));
  view.series.filter((one) => one.points.length).forEach((one) => parts.push(series(one)));
  parts.push(...viewTables(view));
  view.histograms.filter((one) => one.buckets.length).forEach((one) => parts.push(histogram(one)));
  return parts;
}

function show(view) {
  current = view;
  const isFirst = line && view === data.views[0] && data.views.length > 1;
  const subject = isFirst ? shownTimeline.subject() : selected ? subjectOf(view) : null;
  const parts = [make('h2', {}, view.title), make('div', {class: 'totals'}, view.totals.map((total) => `${total.name} ${figure(total.unit, total.value)}`).join(', '))];
  let graph = null;
  if (subject) {
    const cut = windowParts(subject);
    graph = cut.graph;
    parts.push(...cut.parts);
  } else if (view.profile && view.profile.stacks.length) {
    if (selected) parts.push(make('div', {class: 'faint whole'}, 'This view has no figures by time: it shows the whole recording.'));
    graph = flame(view.profile);
    parts.push(graph);
  }
  parts.push(...wholeParts(view), make('h2', {}, 'What limits this'), ...view.caveats.map((text) => make('div', {class: /^Lost: \d/.test(text) ? 'loss' : ''}, text)));
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
