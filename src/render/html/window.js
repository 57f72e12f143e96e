// Costs by source in the slots of the timeline, added up over the window that is selected.
const line = data.timeline;

// First and last slot; null: the whole recording.
let selected = null;
const windowOf = () => selected || {first: 0, last: line.slots - 1};
const slotTime = (slot) => line.start_ns + slot * line.slot_ns;
function windowText() {
  const {first, last} = windowOf();
  return selected ? `${time(slotTime(first))} to ${time(slotTime(last + 1))}` : 'the whole recording';
}

// The amounts come as one row of numbers: source, slot, figures. Each source gets its own.
function unpack(subject) {
  const width = 2 + subject.figures.length;
  subject.own = subject.sources.map(() => []);
  for (let at = 0; at < subject.amounts.length; at += width) {
    subject.own[subject.amounts[at]].push(subject.amounts.slice(at + 1, at + width));
  }
}

// What is live is what was allocated, the first figure, without what was freed, the last one.
const growth = (amount) => amount[1] - amount[amount.length - 1];

// One value for each slot, of one source: what is live at its end, or what was added in it.
function valuesOf(subject, source) {
  const values = new Float64Array(line.slots);
  for (const amount of subject.own[source]) values[amount[0]] += subject.has_level ? growth(amount) : amount[1];
  if (subject.has_level) for (let slot = 1; slot < line.slots; ++slot) values[slot] += values[slot - 1];
  return values;
}

function peakSlot(subject) {
  const {first, last} = windowOf();
  const live = new Float64Array(line.slots);
  subject.own.forEach((own) => own.forEach((amount) => { live[amount[0]] += growth(amount); }));
  let sum = 0, most = -Infinity, peak = first;
  for (let slot = 0; slot <= last; ++slot) {
    sum += live[slot];
    if (slot >= first && sum > most) { most = sum; peak = slot; }
  }
  return peak;
}

// The costs that a window has: their names, units, and how to add up a source's amounts.
function costsOf(subject) {
  const {first, last} = windowOf();
  const within = (at) => (own) => own.reduce((sum, amount) => sum + (amount[0] >= first && amount[0] <= last ? at(amount) : 0), 0);
  const until = (slot) => (own) => own.reduce((sum, amount) => sum + (amount[0] <= slot ? growth(amount) : 0), 0);
  const costs = subject.figures.map((kind, i) => ({...kind, sum: within((amount) => amount[i + 1])}));
  if (subject.has_level) {
    const unit = subject.figures[0].unit;
    costs.push({name: 'live at the end', unit, sum: until(last)}, {name: 'live at the peak', unit, sum: until(peakSlot(subject))},
      {name: 'grown', unit, sum: within(growth)});
  }
  return costs;
}

// The window as a flame graph's profile.
function windowProfile(subject) {
  const costs = costsOf(subject);
  const named = (text) => ({own: [text, '', 0]});
  const stacks = subject.sources.map(([comm, stack, rest], source) => {
    const label = rest ? named('[other stacks]') : named('[no stack]');
    const process = named(comm < 0 ? '[other processes]' : subject.comms[comm] || '[unknown]');
    return [[process, ...(stack < 0 ? [label] : line.stacks[stack])], costs.map((cost) => cost.sum(subject.own[source]))];
  });
  return {kinds: costs, main: 0, frames: line.frames, stacks};
}

const functionsOf = (stack) => stack.slice(-4).reverse().map((frame) => line.frames[frame][0]).join(' \u2190 ');
function sourceName(subject, source, byProcess) {
  const [comm, stack, rest] = subject.sources[source];
  if (byProcess) return comm < 0 ? '[other processes]' : subject.comms[comm] || '[unknown]';
  return stack >= 0 ? functionsOf(line.stacks[stack]) : rest ? '[other stacks]' : '[no stack]';
}

// Sources with one name, largest first by the first cost.
function windowRows(subject, byProcess) {
  const costs = costsOf(subject);
  const rows = new Map();
  subject.sources.forEach((whose, source) => {
    const name = sourceName(subject, source, byProcess);
    const key = byProcess ? name : `${whose[1]} ${name}`;
    const row = rows.get(key) || [name, ...costs.map(() => 0)];
    costs.forEach((cost, i) => { row[i + 1] += cost.sum(subject.own[source]); });
    row.stack = byProcess || whose[1] < 0 ? null : line.stacks[whose[1]];
    rows.set(key, row);
  });
  const kept = [...rows.values()].filter((row) => row.slice(1).some((value) => value !== 0));
  kept.sort((one, two) => two[1] - one[1]);
  return {columns: [{name: byProcess ? 'process' : 'stack', unit: 'text'}, ...costs], rows: kept};
}
