// Uses the page of --format html as a reader does, and says what was shown.
const said = {};
const $ = (selector) => document.querySelector(selector);
const boxes = () => document.querySelectorAll('.flame div');
said.whole = $('.note').textContent;
said.boxes = boxes().length;

const search = $('input[type=search]');
search.value = 'KMALLOC';
search.dispatchEvent(new Event('input'));
said.matched = $('.matched').textContent;
search.value = '';
search.dispatchEvent(new Event('input'));

boxes()[boxes().length - 1].click();
said.zoomed = $('.note').textContent;
said.boxes_zoomed = boxes().length;

const count = [...document.querySelectorAll('th')].findIndex((head) => head.textContent === 'bytes_alloc');
const column = () => [...document.querySelectorAll('tbody tr')].map((row) => row.children[count].textContent);
said.rows_largest = column()[0];
document.querySelectorAll('th')[count].click();
said.rows_first = column()[0];

[...document.querySelectorAll('button')].find((button) => button.textContent === 'inverse').click();
const heaviest = [...boxes()].find((box) => box.style.top === '17px' && box.style.left === '0%');
said.inverse_first = heaviest.title.replace(/:.*/, '');
document.body.textContent = JSON.stringify(said);
