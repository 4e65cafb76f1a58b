"use strict";
// Draws the data of a run. What comes from the target becomes text, never markup.

// exact returns a number of a record, which is text beyond 2^53.
const exact = v => typeof v === "string" ? Number(v) : v;

const units = { nanoseconds: [["s", 1e9], ["ms", 1e6], ["us", 1e3], ["ns", 1]], bytes: [["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10], ["B", 1]] };

// amount returns a value with its unit, in three digits.
function amount(n, unit) {
  for (const [name, size] of units[unit] ?? []) if (n >= size || size === 1) return +(n / size).toPrecision(3) + " " + name;
  return n.toLocaleString("en");
}

// tree adds up stacks: {name, value, own, children}.
function tree(names, stacks) {
  const root = { name: "all", value: 0, own: 0, children: new Map() };
  for (const { Frames, Value } of stacks.List) {
    let node = root;
    node.value += Value;
    for (const frame of Frames) {
      if (!node.children.has(frame)) node.children.set(frame, { name: names[frame], value: 0, own: 0, children: new Map() });
      node = node.children.get(frame);
      node.value += Value;
    }
    node.own += Value;
  }
  return root;
}

// layout returns the boxes of a tree, zoomed to one node: what is around it has the whole width. Boxes below a thousandth are left out.
function layout(root, zoomed = root) {
  const boxes = [], path = way(root, zoomed);
  path.slice(0, -1).forEach((node, depth) => boxes.push({ node, depth, left: 0, width: 1, outer: true }));
  const place = (node, depth, left) => {
    const width = zoomed.value ? node.value / zoomed.value : 0;
    if (width < 0.001) return;
    boxes.push({ node, depth, left, width });
    for (const child of [...node.children.values()].sort((a, b) => a.name < b.name ? -1 : 1)) {
      place(child, depth + 1, left);
      left += child.value / zoomed.value;
    }
  };
  place(zoomed, path.length - 1, 0);
  return boxes;
}

// way returns the nodes from the root to one of them.
function way(root, to) {
  if (root === to) return [root];
  for (const child of root.children.values()) {
    const rest = way(child, to);
    if (rest) return [root, ...rest];
  }
  return null;
}

// matching returns the value of all stacks with a frame that a search finds; a stack counts once.
function matching(node, find) {
  if (find(node.name)) return node.value;
  let sum = 0;
  for (const child of node.children.values()) sum += matching(child, find);
  return sum;
}

// finder returns what tests names: by a regular expression, or by the text when it is none. "" finds nothing.
function finder(text) {
  if (text === "") return () => false;
  try {
    const re = new RegExp(text, "i");
    return name => re.test(name);
  } catch {
    return name => name.includes(text);
  }
}

// lanes gives each call a row: a thread's calls that lie in one another are below one another.
function lanes(calls, events) {
  const threads = new Map();
  const thread = id => threads.get(id) ?? threads.set(id, { id, open: [], depth: 1, first: 0 }).get(id);
  for (const c of calls) {
    const t = thread(c.Thread), end = c.Start + c.Duration;
    while (t.open.length > 0 && t.open.at(-1) <= c.Start) t.open.pop();
    c.lane = t.open.length;
    t.open.push(end);
    t.depth = Math.max(t.depth, t.open.length);
  }
  for (const e of events) thread(e.Thread);
  let first = 0;
  for (const t of threads.values()) {
    t.first = first;
    first += t.depth + 1; // a row for the name
  }
  return { threads, rows: first };
}

// remembered returns what the user has chosen for a part of the page, which stays when a live page is redrawn.
const choices = new Map();
function remembered(part, initial) {
  if (!choices.has(part)) choices.set(part, initial());
  return choices.get(part);
}

// element makes an element; children are elements or texts.
function element(name, attributes, ...children) {
  const e = document.createElement(name);
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (key.startsWith("on")) e.addEventListener(key.slice(2), value);
    else if (key === "style") Object.assign(e.style, value);
    else e[key] = value;
  }
  e.append(...children);
  return e;
}

const cellText = v => v === null || v === undefined ? "" : Array.isArray(v) ? v.map(cellText).join("\n") : typeof v === "object" ? JSON.stringify(v) : String(v);

// A table shows so many rows, the first of its order; a time line so many lanes, which a canvas has room for.
const mostRows = 1000, mostLanes = 800;

// table makes a table whose columns sort by a click; chart is the column that gets bars, or -1.
function table(part, columns, rows, chart = -1) {
  const body = element("tbody"), order = remembered("order " + part, () => ({ column: -1, down: true }));
  const most = chart < 0 ? 0 : rows.reduce((m, row) => Math.max(m, exact(row[chart]) || 0), 1);
  const fill = () => body.replaceChildren(...rows.slice(0, mostRows).map(row => element("tr", {},
    ...row.map(v => element("td", { className: typeof v === "number" ? "number" : "" }, cellText(v))),
    ...(chart < 0 ? [] : [element("td", { className: "chart" }, element("div", { className: "bar", style: { width: 100 * (exact(row[chart]) || 0) / most + "%" } }))]))));
  const arrange = () => {
    const column = order.column;
    const key = row => { const v = row[column], n = exact(v); return typeof n === "number" && !Number.isNaN(n) ? n : cellText(v); };
    if (column >= 0) rows = [...rows].sort((a, b) => { const x = key(a), y = key(b); return (x < y ? -1 : x > y ? 1 : 0) * (order.down ? -1 : 1); });
    fill();
  };
  const sort = column => {
    order.down = order.column === column ? !order.down : true;
    order.column = column;
    arrange();
  };
  arrange();
  const head = columns.map((name, i) => element("th", { title: "sort", onclick: () => sort(i) }, name));
  const cut = rows.length > mostRows ? [element("p", { className: "faint" }, `${mostRows} of ${rows.length} rows; another order shows others`)] : [];
  return element("div", { className: "scroll" }, ...cut, element("table", {}, element("thead", {}, element("tr", {}, ...head, ...(chart < 0 ? [] : [element("th")]))), body));
}

// range names a bucket; an open end is left out of it.
const range = b => b.min !== undefined && b.min === b.max ? `${b.min}` : `${b.min ?? "…"} to ${b.max ?? "…"}`;

const histogram = (part, buckets) => table(part, ["range", "count"], buckets.map(b => [range(b), exact(b.count)]), 1);
const series = (part, points) => table(part, ["from", "value"], points.map(p => [p.interval_start, exact(p.value)]), 1);

const statsFields = ["count", "average", "total", "stddev", "min", "p50", "p90", "p99", "max"];
const statsRow = v => statsFields.map(field => field === "stddev" ? Number(v.stddev ?? 0).toPrecision(4) * 1 : v[field] ?? "");

// value draws what an entry of an aggregation has.
function value(part, type, v) {
  if (type === "hist") return histogram(part, v);
  if (type === "tseries") return series(part, v);
  if (type === "stats") return table(part, statsFields, [statsRow(v)]);
  return element("p", {}, cellText(v));
}

function aggregate(a) {
  const data = a.data ?? [], keyed = data.length > 0 && data[0].key !== undefined;
  const parts = [element("h3", {}, "@" + a.name)], part = a.type + " " + a.name;
  if (!keyed) parts.push(value(part, a.type, a.value ?? a.data ?? 0));
  else if (a.type === "map") {
    const rows = data.map(e => [...e.key, e.value]).reverse();
    const keys = data[0].key.map((_, i) => data[0].key.length > 1 ? `key ${i + 1}` : "key");
    parts.push(table(part, [...keys, "value"], rows, keys.length));
  } else if (a.type === "stats") {
    const keys = data[0].key.map(() => "key");
    parts.push(table(part, [...keys, ...statsFields], data.map(e => [...e.key, ...statsRow(e.value)]).reverse()));
  } else for (const e of data) parts.push(element("p", {}, e.key.map(cellText).join(", ")), value(part + " " + JSON.stringify(e.key), a.type, e.value));
  return parts;
}

// hue gives a name its colour.
function hue(name) {
  let h = 0;
  for (const c of name) h = (h * 31 + c.codePointAt(0)) % 997;
  return `hsl(${20 + h % 40} ${65 + h % 25}% ${62 + h % 12}%)`;
}

const rowHeight = 18;

// flame makes a flame graph: a click zooms, a search marks.
function flame(names, stacks) {
  const root = tree(names, stacks), choice = remembered("flame " + stacks.Name, () => ({ zoom: [], text: "" }));
  const follow = path => path.reduce((node, name) => node && [...node.children.values()].find(child => child.name === name), root);
  let zoomed = follow(choice.zoom) ?? root, find;
  const zoom = node => {
    zoomed = node;
    choice.zoom = way(root, node).slice(1).map(n => n.name);
    draw();
  };
  const told = element("div", { className: "told" }), graph = element("div", { className: "flame" });
  const describe = node => `${node.name}: ${amount(node.value, stacks.Unit)} (${(100 * node.value / root.value).toFixed(1)} %), itself ${amount(node.own, stacks.Unit)}`;
  const draw = () => {
    const boxes = layout(root, zoomed);
    graph.style.height = (1 + Math.max(0, ...boxes.map(b => b.depth))) * rowHeight + "px";
    graph.replaceChildren(...boxes.map(({ node, depth, left, width, outer }) => element("div", {
      className: (find(node.name) ? "hit " : "") + (outer ? "outer" : ""), title: describe(node), onclick: () => zoom(node), onmouseover: () => { told.textContent = describe(node); },
      style: { left: 100 * left + "%", width: 100 * width + "%", top: depth * rowHeight + "px", background: hue(node.name) } }, node.name)));
  };
  const mark = text => {
    choice.text = text;
    find = finder(text);
    told.textContent = text === "" ? "" : `found in ${(100 * matching(root, find) / root.value).toFixed(1)} %`;
    draw();
  };
  const search = element("input", { type: "search", placeholder: "search", value: choice.text, oninput: e => mark(e.target.value) });
  mark(choice.text);
  return [element("h3", {}, `${stacks.Name}: ${amount(root.value, stacks.Unit)}`), search, " ",
    element("button", { onclick: () => zoom(root) }, "zoom out"), told, graph];
}

// fit draws the time line for the present width of the window.
let fit = () => {};
addEventListener("resize", () => fit());

// timeline makes a time line: the wheel zooms, dragging moves, the pointer shows what is below it.
function timeline(names, calls, events) {
  const { threads, rows } = lanes(calls, events);
  const all = [...calls.map(c => c.Start + c.Duration), ...events.map(e => e.Start)].reduce((a, b) => Math.max(a, b), 1);
  const view = remembered("time line", () => ({ whole: true }));
  if (view.whole) Object.assign(view, { from: 0, to: all });
  const canvas = element("canvas"), told = element("div", { className: "told" });
  const row = (thread, lane) => (threads.get(thread).first + 1 + lane) * rowHeight;
  const x = time => (time - view.from) / (view.to - view.from) * canvas.width;
  const draw = () => {
    canvas.width = canvas.clientWidth || 1100;
    canvas.height = Math.min(rows, mostLanes) * rowHeight;
    const g = canvas.getContext("2d");
    g.font = "11px sans-serif";
    for (const c of calls) {
      const left = x(c.Start), width = Math.max(1, x(c.Start + c.Duration) - left), top = row(c.Thread, c.lane);
      if (left > canvas.width || left + width < 0) continue;
      g.fillStyle = c.Failed ? "#e0665a" : hue(names[c.Func]);
      g.fillRect(left, top, width, rowHeight - 1);
      if (width < 40) continue;
      g.save();
      g.beginPath();
      g.rect(left, top, width, rowHeight);
      g.clip();
      g.fillStyle = "#111";
      g.fillText(c.Text || names[c.Func], Math.max(left, 0) + 2, top + 13);
      g.restore();
    }
    g.fillStyle = "#3b82c4";
    for (const e of events) g.fillRect(e.Start === view.to ? canvas.width - 2 : x(e.Start), row(e.Thread, 0), 2, rowHeight - 1);
    g.fillStyle = "#888";
    for (const t of threads.values()) g.fillText(names[t.id], 2, t.first * rowHeight + 13);
  };
  const at = e => view.from + e.offsetX / (canvas.clientWidth || 1) * (view.to - view.from);
  const under = e => {
    const time = at(e), near = (view.to - view.from) / (canvas.clientWidth || 1) * 3, hits = (thread, lane) => Math.floor(e.offsetY / rowHeight) === row(thread, lane) / rowHeight;
    const c = calls.find(c => hits(c.Thread, c.lane) && time >= c.Start - near / 3 && time <= c.Start + c.Duration + near / 3);
    if (c) return `${c.Text || names[c.Func]}${c.Result ? " = " + c.Result : ""}  ${c.Returned ? amount(c.Took, "nanoseconds") : "did not return"}  ${names[c.Module]}`;
    const v = events.find(v => hits(v.Thread, 0) && Math.abs(v.Start - time) < near);
    return v ? `${names[v.Probe]} ${JSON.stringify(v.Data)}` : "";
  };
  let dragged = null;
  canvas.addEventListener("wheel", e => {
    e.preventDefault();
    const here = at(e), by = e.deltaY > 0 ? 1.25 : 0.8;
    view.from = Math.max(0, here - (here - view.from) * by);
    view.to = Math.min(all, here + (view.to - here) * by);
    view.whole = view.from === 0 && view.to === all;
    draw();
  }, { passive: false });
  canvas.addEventListener("mousedown", e => { dragged = at(e); });
  canvas.addEventListener("mouseup", () => { dragged = null; });
  canvas.addEventListener("mousemove", e => {
    told.textContent = under(e);
    if (dragged === null || e.buttons === 0) return;
    const by = Math.min(Math.max(dragged - at(e), -view.from), all - view.to);
    view.from += by;
    view.to += by;
    view.whole = false;
    draw();
  });
  fit = draw;
  setTimeout(draw); // it has its width once it is in the page
  return [element("p", { className: "faint" }, `${amount(all, "nanoseconds")}; the wheel zooms, dragging moves${rows > mostLanes ? `; ${mostLanes} of ${rows} lines are shown` : ""}`), canvas, told];
}

// page returns the whole of it as elements.
function page(d) {
  const parts = [element("h1", {}, d.Title || "gotap"), element("p", { className: "faint" }, d.Target + (d.Status ? `, status ${d.Status}` : ""))];
  const section = (title, ...content) => parts.push(element("section", {}, element("h2", {}, title), ...content));
  if (d.Lost) section("Lost", ...d.Lost.map(l => element("p", { className: "bad" }, `${l.Count.toLocaleString("en")}: ${l.Cause}`)));
  if (d.Errors) section("Errors", ...d.Errors.map(text => element("pre", { className: "bad" }, text)));
  for (const t of d.Tables ?? []) section(t.name || "table", table("table " + t.name, t.columns, t.rows));
  if (d.Aggregates) section("Aggregations", element("div", { className: "parts" }, ...d.Aggregates.map(a => element("div", {}, ...aggregate(a)))));
  if (d.Stacks) section("Stacks", ...d.Stacks.flatMap(s => flame(d.Names, s)));
  if (d.Calls || d.Events) section("Time line", ...timeline(d.Names, d.Calls ?? [], d.Events ?? []));
  if (d.Text) section("Output", element("pre", {}, d.Text));
  if (d.Script) section("Script", element("pre", {}, d.Script));
  return parts;
}

// scrolled are the parts of the page that scroll by themselves.
const scrolled = main => [...main.querySelectorAll(".scroll, pre")];

// live redraws the page whenever its server sends data, unless the user has paused it or holds a button. Positions stay.
function live(main, source) {
  let paused = false, held = false, latest = null, over = false;
  const state = element("span", { className: "faint" }), pause = element("button", { id: "pause", onclick: () => { paused = !paused; show(); } });
  const show = () => {
    pause.textContent = paused ? "continue" : "pause";
    state.textContent = over ? " the run has ended" : paused ? " paused" : " live";
    if (latest === null || paused || held) return;
    const inputs = [...main.querySelectorAll("input")], typed = inputs.indexOf(document.activeElement), cursor = inputs[typed]?.selectionStart;
    const positions = scrolled(main).map(e => [e.scrollTop, e.scrollLeft]);
    main.replaceChildren(element("p", { className: "live" }, pause, state), ...page(latest));
    fit();
    scrolled(main).forEach((e, i) => { [e.scrollTop, e.scrollLeft] = positions[i] ?? [0, 0]; });
    const input = [...main.querySelectorAll("input")][typed];
    input?.focus();
    input?.setSelectionRange(cursor, cursor);
    latest = null;
  };
  addEventListener("mousedown", () => { held = true; });
  addEventListener("mouseup", () => { held = false; });
  source.onmessage = e => { latest = JSON.parse(e.data); show(); };
  source.onerror = () => { state.textContent = " no connection; trying again"; };
  source.addEventListener("end", () => { over = true; source.close(); show(); });
  main.replaceChildren(element("p", { className: "live" }, pause, state), ...main.children);
  show();
}

if (typeof document !== "undefined") {
  const d = JSON.parse(document.getElementById("data").textContent), main = document.getElementById("page");
  document.title = `${d.Title} - gotap`;
  main.replaceChildren(...page(d));
  if (main.dataset?.live) live(main, new EventSource(main.dataset.live + location.search));
}
