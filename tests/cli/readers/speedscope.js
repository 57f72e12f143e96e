// Reads FILE with the importer of speedscope's own package and prints the name, the unit, the whole
// weight and the number of samples of each profile: node speedscope.js FOLDER_OF_PACKAGE FILE
// The package is a program for browsers: its importer is taken out before it starts.
const fs = require('fs');
const path = require('path');
const vm = require('vm');

const [folder, file] = process.argv.slice(2);
const release = path.join(folder, 'dist', 'release');
const bundle = fs.readdirSync(release).find((name) => /^speedscope-.*\.js$/.test(name));
const source = fs.readFileSync(path.join(release, bundle), 'utf8');
const importer =
    source.match(/async function ([\w$]+)\(\w+,\w+\)\{return\(await [\w$]+\)\.importProfileGroupFromText\(/);
const start = source.lastIndexOf('console.log(`speedscope v');

// What the bundle asks of a browser before it starts.
const nothing = () => new Proxy(function() {}, {
  get: (_, key) => (key === Symbol.toPrimitive ? () => '' : nothing()),
  apply: () => nothing(),
  construct: () => nothing(),
});
const page = {
  console: {log() {}, error: console.error, warn: console.error},
  TextDecoder, TextEncoder, URL, performance, queueMicrotask, setTimeout,
  matchMedia: () => ({matches: false, addListener() {}, addEventListener() {}}),
  addEventListener() {}, requestAnimationFrame() {},
};
page.globalThis = page.window = page.self = page;
for (const name of ['document', 'navigator', 'location', 'localStorage', 'history']) {
  page[name] = nothing();
}
vm.createContext(page);
vm.runInContext(`${source.slice(0, start)}globalThis.read=${importer[1]};})();`, page);

page.read(path.basename(file), fs.readFileSync(file, 'utf8')).then((group) => {
  for (const profile of group.profiles) {
    let samples = 0;
    profile.forEachCall(() => {}, () => {});
    samples = profile.samples.length;
    console.log(
        [profile.getName(), profile.getWeightUnit(), profile.getTotalWeight(), samples].join('\t'));
  }
});
