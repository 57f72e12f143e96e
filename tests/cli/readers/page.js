// Uses the page of --format html as a reader does, and says what was shown.
const said = {};
const $ = (selector) => document.querySelector(selector);
const boxes = () => document.querySelectorAll('.flame div');
const note = () => $('.flame + .note').textContent;
said.whole = note();
said.boxes = boxes().length;

const search = $('input[type=search]');
search.value = 'KMALLOC';
search.dispatchEvent(new Event('input'));
said.matched = $('.matched').textContent;
search.value = '';
search.dispatchEvent(new Event('input'));

boxes()[boxes().length - 1].click();
said.zoomed = note();
said.boxes_zoomed = boxes().length;
said.stack = [...document.querySelectorAll('ol.stack li')].map((item) => item.firstChild.textContent);

const head = (name) => [...document.querySelectorAll('th')].findIndex((one) => one.textContent === name);
const column = (index) => [...document.querySelectorAll('tbody tr')].map((row) => row.children[index].textContent);
said.rows_largest = column(head('bytes_alloc'))[0];
document.querySelectorAll('th')[head('bytes_alloc')].click();
said.rows_first = column(head('bytes_alloc'))[0];
said.sorted = document.querySelectorAll('th')[head('bytes_alloc')].getAttribute('aria-sort');

[...document.querySelectorAll('button')].find((button) => button.textContent === 'inverse').click();
const heaviest = [...boxes()].find((box) => box.style.top === '17px' && box.style.left === '0%');
heaviest.dispatchEvent(new MouseEvent('mouseover', {bubbles: true}));
said.inverse_first = note().replace(/(:| in ).*/, '');
[...document.querySelectorAll('button')].find((button) => button.textContent === 'inverse').click();

// The two halves of the timeline, first by the mouse, then by the keyboard.
const chart = $('.chart');
const box = chart.getBoundingClientRect();
const drag = (from, to) => {
  const left = box.left + kLabels;
  const at = (share) => ({clientX: left + share * (box.right - left), clientY: box.top + 20, bubbles: true});
  chart.setPointerCapture = null;
  chart.dispatchEvent(new PointerEvent('pointerdown', at(from)));
  chart.dispatchEvent(new PointerEvent('pointermove', at((from + to) / 2)));
  chart.dispatchEvent(new PointerEvent('pointerup', at(to)));
};
const subject = line.subjects.find((one) => one.name === 'kmalloc');
const sum = (figure) => windowRows(subject, true).rows.reduce((all, row) => all + row[figure], 0);
drag(.01, .49);
said.window = $('.window-text').textContent;
said.window_graph = note();
said.window_head = [...document.querySelectorAll('h2')].map((one) => one.textContent).find((text) => text.startsWith('kmalloc by process'));
said.first_half = [sum(1), sum(2)];
const half = selected.last;
const [from, to] = document.querySelectorAll('input[type=number]');
from.value = slotTime(half + 1) / 1e9;
to.value = slotTime(line.slots) / 1e9;
to.dispatchEvent(new Event('change'));
said.second_half = [sum(1), sum(2)];
const tables = () => [...document.querySelectorAll('section.table')];
const texts = (table) => [...table.querySelectorAll('tbody tr')].map((row) => row.children[2].textContent);
const byStack = tables().find((one) => one.querySelector('h2').textContent.startsWith('kmalloc by stack'));
byStack.querySelectorAll('th')[2].click();
said.window_sorted = texts(byStack);
byStack.querySelector('td.link').click();
said.window_stack = byStack.querySelectorAll('ol.stack li').length;
[...document.querySelectorAll('button')].find((button) => button.textContent === 'whole recording').click();
said.whole_again = note();

said.lost = [...document.querySelectorAll('.chart .lost title')].map((one) => one.textContent);
said.marks = [...document.querySelectorAll('.chart text.loss')].map((one) => one.textContent);
said.scripts = document.querySelectorAll('script').length;
document.body.textContent = JSON.stringify(said);
