// Elements, and figures as text.
const data = JSON.parse(document.getElementById('data').textContent);

function put(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value);
  }
  element.append(...children.map((child) => child ?? ''));
  return element;
}
// All text goes through text nodes: names come from the programs that were watched.
function make(tag, attributes, ...children) { return put(document.createElement(tag), attributes, children); }
function draw(tag, attributes, ...children) { return put(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children); }

function choice(label, options, chosen, onchange) {
  return make('select', {'aria-label': label, onchange: (event) => onchange(+event.target.value)},
    ...options.map((text, i) => make('option', i === chosen ? {value: i, selected: ''} : {value: i}, text)));
}

function bytes(value) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let step = 0;
  while (Math.abs(value) >= 1024 && step + 1 < units.length) { value /= 1024; ++step; }
  return (step ? value.toFixed(1) : value) + ' ' + units[step];
}
function time(ns) {
  for (const [size, unit] of [[1e9, 's'], [1e6, 'ms'], [1e3, 'us']]) if (Math.abs(ns) >= size) return +(ns / size).toPrecision(3) + ' ' + unit;
  return ns + ' ns';
}
const count = new Intl.NumberFormat('en', {maximumFractionDigits: 1});
function figure(unit, value) {
  if (value === null || value === undefined) return '-';
  if (typeof value !== 'number') return String(value);
  switch (unit) {
    case 'bytes': return bytes(value);
    case 'bytes_per_second': return bytes(value) + '/s';
    case 'ns': return time(value);
    case 'percent': return value.toFixed(1) + '%';
    case 'share': return (100 * value).toFixed(1) + '%';
    case 'address': return '0x' + value.toString(16);
    case 'number': return String(value);
    default: return count.format(value);
  }
}
