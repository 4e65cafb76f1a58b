// A browser of a few lines: elements with children, texts, listeners. It runs a page's code, then uses the page and prints what it shows.
"use strict";
const fs = require("fs"), vm = require("vm");
const html = fs.readFileSync(process.argv[2], "utf8");
const [, data] = html.match(/<script type="application\/json" id="data">([^]*?)<\/script>/);
const [, code] = html.match(/<script>\n([^]*?)<\/script>/);

const drawn = [];
class Element {
  constructor(name) { Object.assign(this, { name, children: [], style: {}, listeners: {}, className: "", clientWidth: 1000 }); }
  append(...list) { this.children.push(...list); }
  replaceChildren(...list) { this.children = list; }
  addEventListener(type, f) { this.listeners[type] = f; }
  set textContent(text) { this.children = [text]; }
  get textContent() { return this.children.map(c => typeof c === "string" ? c : c.textContent).join(""); }
  getContext() { return new Proxy({}, { get: (o, k) => k in o ? o[k] : (...args) => { if (k === "fillText") drawn.push(args[0]); }, set: (o, k, v) => { o[k] = v; return true; } }); }
  fire(type, event = {}) { this.listeners[type]({ target: this, preventDefault() {}, ...event }); }
  all(test, found = []) {
    if (test(this)) found.push(this);
    for (const c of this.children) if (typeof c !== "string") c.all(test, found);
    return found;
  }
}
const byId = { data: new Element("script"), page: new Element("main") };
byId.data.textContent = data;
const document = { createElement: name => new Element(name), getElementById: id => byId[id], title: "" };
vm.runInNewContext(code, { document, addEventListener() {}, setTimeout: f => f(), console });

const page = byId.page, show = (...parts) => console.log(...parts);
show("title: " + document.title);
for (const e of page.all(e => e.children.length === 1 && typeof e.children[0] === "string")) show("text: " + e.textContent);
for (const e of page.all(e => e.className === "bar")) show("bar", e.style.width);
for (const text of drawn) show("canvas: " + text);

const graph = page.all(e => e.className === "flame")[0];
const boxes = prefix => graph.children.forEach(b => show(`${prefix}box ${b.textContent} ${b.style.left} ${b.style.width}`));
boxes("");
const section = page.all(e => e.name === "section" && e.children.includes(graph))[0];
const search = section.all(e => e.name === "input")[0], told = section.all(e => e.className === "told")[0];
for (const text of ["wo", "["]) {
  search.value = text;
  search.fire("input");
  show(`search ${text}: ${told.textContent}, marked ${graph.children.filter(b => b.className.startsWith("hit")).map(b => b.textContent).join()}`);
}
graph.children.find(b => b.textContent === "work").fire("click");
boxes("zoomed to work: ");
section.all(e => e.name === "button")[0].fire("click");
boxes("zoomed out: ");
const head = page.all(e => e.name === "th" && e.textContent === "hits")[0], table = page.all(e => e.name === "table" && e.all(x => x === head).length > 0)[0];
for (let i = 0; i < 2; i++) {
  head.fire("click");
  show("sorted by hits:", table.all(e => e.className === "number").map(e => e.textContent).join(" "));
}
