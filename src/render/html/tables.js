// Tables that sort by a click on a column, histograms, and series.
const kFirstRows = 100;

// `stackOf` has the frames of a row's stack, if it has one: a click on its text shows them.
function table(shown, stackOf, frames) {
  const isNumber = shown.columns.map((column) => column.unit !== 'text' && column.unit !== 'stack');
  const stackColumn = stackOf ? Math.max(0, shown.columns.findIndex((column) => column.unit === 'stack')) : -1;
  const body = make('tbody');
  let limit = kFirstRows;
  let rows = shown.rows;
  const more = make('button', {onclick: () => { limit = Infinity; fill(); }}, `show all ${count.format(rows.length)} rows`);
  const cell = (row, value, i) => {
    const stack = i === stackColumn ? stackOf(row) : null;
    const attributes = {class: isNumber[i] ? 'n' : stack ? 'link' : ''};
    const element = make('td', attributes, figure(shown.columns[i].unit, value));
    if (stack) element.addEventListener('click', () => element.replaceChildren(element.querySelector('ol') ? String(value) : stackList(stack, frames)));
    return element;
  };
  const fill = () => {
    more.hidden = rows.length <= limit;
    body.replaceChildren(...rows.slice(0, limit).map((row) => make('tr', {}, ...row.map((value, i) => cell(row, value, i)))));
  };
  let sorted = -1;
  let falling = true;
  const heads = shown.columns.map((column, i) => make('th', {class: isNumber[i] ? 'n' : '', tabindex: 0, onclick: () => sort(i), onkeydown: (event) => event.key === 'Enter' && sort(i)}, column.name));
  const sort = (column) => {
    falling = column === sorted ? !falling : true;
    sorted = column;
    const sign = falling ? -1 : 1;
    rows = [...shown.rows].sort((one, two) => {
      const [left, right] = [one[column], two[column]];
      if (left === null || right === null) return (left === null) - (right === null);
      return sign * (typeof left === 'number' ? left - right : String(left).localeCompare(String(right)));
    });
    heads.forEach((head, i) => i === column ? head.setAttribute('aria-sort', falling ? 'descending' : 'ascending') : head.removeAttribute('aria-sort'));
    fill();
  };
  fill();
  return make('section', {class: 'table'}, make('h2', {}, shown.title),
    make('div', {class: 'wide'}, make('table', {}, make('thead', {}, make('tr', {}, ...heads)), body)),
    more, shown.note ? make('div', {class: 'faint'}, shown.note) : '');
}

function histogram(shown) {
  const most = Math.max(1, ...shown.buckets.map((bucket) => bucket.count));
  return make('section', {}, make('h2', {}, shown.title), make('div', {class: 'wide histogram'}, make('table', {}, ...shown.buckets.map((bucket) => make('tr', {},
    make('td', {class: 'n'}, `${figure(shown.unit, bucket.low)} to ${figure(shown.unit, bucket.high)}`),
    make('td', {class: 'n'}, figure('count', bucket.count)),
    make('td', {}, make('div', {class: 'bar', style: `width:${400 * bucket.count / most}px`})))))));
}
