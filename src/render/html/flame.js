// Flame graphs: zoom, search, inverse, choice of cost, and the stack of the frame that was clicked.
const kRow = 17;

// Outermost first. A frame is a number in `frames`, or holds its own name.
const frameOf = (frame, frames) => frame.own || frames[frame];
function stackList(stack, frames) {
  return make('ol', {class: 'stack'}, ...stack.map((one) => {
    const [name, module] = frameOf(one, frames);
    return make('li', {}, name, module ? make('span', {class: 'faint'}, ` in ${module}`) : '');
  }));
}

// A tree of a profile's stacks by one cost; inverted, it begins with the innermost functions.
function treeOf(profile, kind, inverted) {
  const root = {frame: null, weight: 0, children: new Map()};
  for (const [frames, weights] of profile.stacks) {
    const weight = weights[kind];
    if (!(weight > 0)) continue;
    root.weight += weight;
    let node = root;
    for (let i = 0; i < frames.length; ++i) {
      const frame = frames[inverted ? frames.length - 1 - i : i];
      const key = frame.own ? frame.own[0] : frame;
      let child = node.children.get(key);
      if (!child) { child = {frame, weight: 0, children: new Map(), parent: node}; node.children.set(key, child); }
      child.weight += weight;
      node = child;
    }
  }
  return root;
}

// What was chosen stays when the window or the view changes.
const flameState = {inverted: false, search: ''};

function flame(profile) {
  const state = {kind: profile.main, zoomed: null, root: null};
  const graph = make('div', {class: 'flame', role: 'img', 'aria-label': 'flame graph'});
  const note = make('div', {class: 'note'});
  const shown = make('div', {});
  const matched = make('span', {class: 'faint matched'});
  const own = (node) => node.frame === null ? ['all', '', 0] : frameOf(node.frame, profile.frames);
  const name = (node) => own(node)[0];
  const unit = () => profile.kinds[state.kind].unit;
  const matches = (node) => node.frame !== null && own(node).slice(0, 2).some((text) => text.toLowerCase().includes(flameState.search));

  // The weight of all stacks that have a frame that matches.
  function matching(node) {
    if (matches(node)) return node.weight;
    let sum = 0;
    for (const child of node.children.values()) sum += matching(child);
    return sum;
  }
  function describe(node) {
    const module = own(node)[1];
    note.textContent = `${name(node)}${module ? ' in ' + module : ''}: ${figure(unit(), node.weight)}, ${(100 * node.weight / (state.root.weight || 1)).toFixed(2)} %`;
  }
  function showStack(node) {
    const stack = [];
    for (let at = node; at.frame !== null; at = at.parent) stack.unshift(at.frame);
    shown.replaceChildren(stack.length ? stackList(flameState.inverted ? stack.reverse() : stack, profile.frames) : '');
  }
  function redraw() {
    const top = state.zoomed || state.root;
    const before = [];
    for (let node = top.parent; node; node = node.parent) before.unshift(node);
    const width = graph.clientWidth || 1000;
    const boxes = [];
    let deepest = 0;
    const add = (node, depth, left, share) => {
      const box = make('div', {class: 'k' + own(node)[2], style: `left:${left * 100}%;width:${share * 100}%;top:${depth * kRow}px`});
      if (share * width > 24) box.textContent = name(node);
      if (flameState.search && !matches(node)) box.classList.add('miss');
      box.node = node;
      boxes.push(box);
      deepest = Math.max(deepest, depth);
    };
    before.forEach((node, depth) => add(node, depth, 0, 1));
    const waiting = [[top, before.length, 0]];
    while (waiting.length) {
      const [node, depth, left] = waiting.pop();
      add(node, depth, left, top.weight ? node.weight / top.weight : 1);
      let at = left;
      for (const child of [...node.children.values()].sort((one, two) => two.weight - one.weight)) {
        const part = child.weight / (top.weight || 1);
        if (part * width < 1) break;
        waiting.push([child, depth + 1, at]);
        at += part;
      }
    }
    graph.style.height = (deepest + 1) * kRow + 'px';
    graph.replaceChildren(...boxes);
    matched.textContent = flameState.search ? `matched: ${(100 * matching(state.root) / (state.root.weight || 1)).toFixed(2)} %` : '';
  }
  graph.addEventListener('mouseover', (event) => event.target.node && describe(event.target.node));
  graph.addEventListener('click', (event) => {
    const node = event.target.node;
    if (!node) return;
    state.zoomed = node;
    describe(node);
    showStack(node);
    redraw();
  });
  function rebuild() {
    state.root = treeOf(profile, state.kind, flameState.inverted);
    state.zoomed = null;
    shown.replaceChildren();
    redraw();
    describe(state.root);
  }

  const costs = choice('cost', profile.kinds.map((kind) => kind.name), state.kind, (chosen) => { state.kind = chosen; rebuild(); });
  const inverse = make('button', {'aria-pressed': flameState.inverted, onclick: (event) => { flameState.inverted = !flameState.inverted; event.target.setAttribute('aria-pressed', flameState.inverted); rebuild(); }}, 'inverse');
  const search = make('input', {type: 'search', placeholder: 'search functions', 'aria-label': 'search', value: flameState.search, oninput: (event) => { flameState.search = event.target.value.toLowerCase(); redraw(); }});
  const reset = make('button', {onclick: () => { state.zoomed = null; shown.replaceChildren(); redraw(); describe(state.root); }}, 'reset zoom');
  const key = ['other', 'program', 'library', 'kernel'].flatMap((text, kind) => [make('i', {class: 'k' + kind}), text]);
  const section = make('section', {}, make('div', {class: 'tools'}, costs, inverse, search, reset, matched), graph, note, shown,
    make('div', {class: 'faint key'}, 'Click a frame to zoom and to see its stack. Frames narrower than a pixel are not drawn.', ...key));
  // The width is known when the section is in the page.
  section.start = () => {
    rebuild();
    let drawn = graph.clientWidth;
    new ResizeObserver(() => { if (graph.clientWidth !== drawn) { drawn = graph.clientWidth; redraw(); } }).observe(graph);
  };
  return section;
}
