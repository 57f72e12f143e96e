// What a view's report says of the window: its totals, tables and histograms, put together from what
// it says of each slot. A figure that is blank cannot be made from those of parts of the time.
const partOf = (view, kind, index) => view.by_slot.find((part) => part.kind === kind && part.index === index);

// The amounts come as one row of numbers: row, slot, figures. The last row is all others.
function rowsOf(part) {
  if (part.own) return part.own;
  const width = 2 + part.joinings.length;
  part.own = [...part.rows, -1].map((from) => ({from, slots: []}));
  for (let at = 0; at < part.amounts.length; at += width) {
    part.own.at(part.amounts[at]).slots.push(part.amounts.slice(at + 1, at + width));
  }
  return part.own;
}

function joined(how, left, right) {
  if (left === null || right === null) return left ?? right;
  return how === 'max' ? Math.max(left, right) : how === 'min' ? Math.min(left, right) : left + right;
}

// The figures of one row in the window. What is there at its end was last said at the end of the last
// slot in which anything happened.
function figuresIn(part, row) {
  const {first, last} = windowOf();
  const known = line.reported.findLast((slot) => slot <= last);
  const found = part.joinings.map(() => null);
  for (const [slot, ...figures] of row.slots) {
    part.joinings.forEach((how, i) => {
      const counts = how === 'last' ? slot === known : slot >= first && slot <= last;
      if (typeof how === 'string' && counts) found[i] = joined(how, found[i], figures[i]);
    });
  }
  part.joinings.forEach((how, i) => { if (Array.isArray(how) && found[how[1]]) found[i] = found[how[0]] / found[how[1]]; });
  return found;
}

const cutRows = (part) => rowsOf(part).map((row) => ({from: row.from, figures: figuresIn(part, row)})).filter((row) => row.figures.some((value) => value));

// What the columns of a cut table are.
function cutNote(part, names) {
  const these = (wanted) => names.filter((name, i) => part.joinings[i] === wanted).join(', ');
  const blank = these(null), last = these('last');
  const rows = part.own.at(-1).slots.length && part.rows.length ? 'All rows beyond the first of the whole recording are one.' : '';
  const unknown = part.unknown_rows ? `${count.format(part.unknown_rows)} rows of the whole recording are not known for a part of the time: there were too many rows.` : '';
  return [last ? `As of the end of this time: ${last}.` : '', blank ? `Not known for a part of the time: ${blank}.` : '', rows, unknown].filter((text) => text).join(' ');
}

// Rows with a moment lie in the window or not.
function cutList(whole) {
  const at = whole.columns.findIndex((column) => column.name === 'at_ns');
  if (at < 0) return null;
  const {first, last} = windowOf();
  const rows = whole.rows.filter((row) => row[at] >= slotTime(first) && row[at] < slotTime(last + 1));
  return {...whole, rows, title: `${whole.title}: ${windowText()}`};
}

function cutTable(view, index) {
  const whole = view.tables[index];
  const part = partOf(view, 'table', index);
  if (!part) return cutList(whole);
  const keys = whole.keys;
  const sum = whole.share_of === null ? 0 : cutRows(part).reduce((all, row) => all + row.figures[whole.share_of - keys], 0);
  const rows = cutRows(part).map((row) => {
    const names = row.from < 0 ? whole.columns.slice(0, keys).map((column, i) => i ? null : 'other') : whole.rows[row.from].slice(0, keys);
    const share = whole.share_of === null ? [] : [sum ? row.figures[whole.share_of - keys] / sum : null];
    return Object.assign([...names, ...row.figures, ...share], {from: row.from});
  });
  if (whole.sort !== null && whole.sort >= keys) rows.sort((one, two) => (one.from < 0) - (two.from < 0) || two[whole.sort] - one[whole.sort]);
  const note = cutNote(part, whole.columns.slice(keys).map((column) => column.name));
  return {...whole, rows, note, title: `${whole.title}: ${windowText()}`};
}

function cutHistogram(view, index) {
  const whole = view.histograms[index];
  const part = partOf(view, 'histogram', index);
  if (!part) return null;
  const counts = new Map(cutRows(part).map((row) => [row.from, row.figures[0]]));
  return {...whole, title: `${whole.title}: ${windowText()}`, buckets: whole.buckets.map((bucket, i) => ({...bucket, count: counts.get(i) || 0}))};
}

function cutTotals(view) {
  const part = partOf(view, 'totals', 0);
  if (!part) return [];
  const figures = figuresIn(part, rowsOf(part)[0]);
  return view.totals.map((total, i) => ({...total, value: figures[i] ?? 0})).filter((total, i) => part.joinings[i] !== null);
}

const stackTable = (view) => view.tables.find((one) => one.columns.some((column) => column.unit === 'stack'));

// The window as a flame graph's profile, from the rows of the table with stacks.
function cutProfile(view) {
  const index = view.tables.indexOf(stackTable(view));
  const part = index < 0 ? null : partOf(view, 'table', index);
  if (!part) return null;
  const {columns, keys} = view.tables[index];
  const place = (kind) => columns.findIndex((column) => column.name === kind.name) - keys;
  const kinds = view.profile.kinds.filter((kind) => place(kind) >= 0 && part.joinings[place(kind)] !== null);
  if (!kinds.length) return null;
  const stacks = cutRows(part).filter((row) => row.from < view.profile.stacks.length).map((row) =>
    [row.from < 0 ? [{own: ['[other stacks]', '', 0]}] : view.profile.stacks[row.from][0], kinds.map((kind) => row.figures[place(kind)] || 0)]);
  const main = kinds.indexOf(view.profile.kinds[view.profile.main]);
  return {...view.profile, kinds, main: Math.max(0, main), stacks};
}

// What was lost while the window lasted, as far as the times of losses are known.
function lostIn() {
  const {first, last} = windowOf();
  const lost = line.losses.filter((loss) => loss.to_ns >= slotTime(first) && loss.from_ns < slotTime(last + 1));
  const sum = lost.reduce((all, loss) => all + loss.count, 0);
  return sum ? `In and around this window ${count.format(sum)} events were lost: its figures are too small.` : '';
}
