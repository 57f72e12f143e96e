// Selects the first and the second half of the timeline and says what the tables, totals and
// histograms of all views show of each, and of the whole recording.
const said = {parts: 0, sums: 0, wrong: [], blank: [], texts: []};
const middle = Math.floor(line.slots / 2) - 1;
const choose = (first, last) => { selected = first === null ? null : {first, last}; };
const sumOf = (rows, column) => rows.reduce((all, row) => all + (row[column] || 0), 0);
const halves = (made) => [[0, middle], [middle + 1, line.slots - 1]].map(([first, last]) => { choose(first, last); return made(); });
function compare(what, how, [left, right], whole) {
  ++said.sums;
  const made = how === 'sum' ? left + right : how === 'last' ? right : how === 'max' ? Math.max(left, right) : whole;
  if (made !== whole) said.wrong.push(`${what}: ${how} of ${left} and ${right} is not ${whole}`);
}
for (const view of data.views) {
  for (const part of view.by_slot) {
    ++said.parts;
    if (part.kind === 'totals') {
      const cut = halves(() => new Map(cutTotals(view).map((total) => [total.name, total.value])));
      view.totals.forEach((total, i) => { if (part.joinings[i]) compare(`${view.view} ${total.name}`, part.joinings[i], cut.map((one) => one.get(total.name)), total.value); });
    } else if (part.kind === 'histogram') {
      const cut = halves(() => cutHistogram(view, part.index).buckets);
      view.histograms[part.index].buckets.forEach((bucket, i) => compare(`${view.view} bucket ${i}`, 'sum', cut.map((buckets) => buckets[i].count), bucket.count));
    } else {
      const whole = view.tables[part.index];
      whole.rows.forEach((row, at) => { row.from = at; });
      const cut = halves(() => cutTable(view, part.index).rows);
      part.joinings.forEach((how, i) => {
        const column = whole.keys + i, name = `${view.view}, ${whole.title}, ${whole.columns[column].name}`;
        if (how === 'sum') compare(name, how, cut.map((rows) => sumOf(rows, column)), sumOf(whole.rows, column));
        if (how === null) said.blank.push(name);
        for (const from of part.rows) {
          const mine = cut.map((rows) => rows.find((row) => row.from === from)?.[column] || 0);
          if (['sum', 'last', 'max'].includes(how)) compare(`${name} of row ${from}`, how, mine, whole.rows[from][column] || 0);
        }
      });
    }
  }
}
// What a reader sees of one half.
for (const view of data.views) {
  choose(0, middle);
  show(view);
  said.texts.push([view.view, [...document.querySelectorAll('#main h2')].map((one) => one.textContent), document.querySelector('.totals').textContent, document.querySelector('.whole')?.textContent || '']);
}
choose(null);
document.body.textContent = JSON.stringify(said);
