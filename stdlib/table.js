// gotap/table: aligned columns that fit the terminal.
//
//   import { show, table, size } from "gotap/table";
//   import { duration } from "gotap/time";
//   show("calls", ["call", "count", ["time", duration]], [["read", 12, 500], ["write", 3, 11000]]);
//
// show(name, columns, rows, { head, top })   prints a table. A column is its name, or [name, format]: format(value) is the text of a
//                                     value. Where records are written the table is one, with all rows and with the values: nanoseconds,
//                                     bytes. head: false leaves out the line of names
// table(rows, { head, top, width })   text; columns of numbers are aligned right, others left. top: shows at most this many rows and
//                                     counts the others in a last line. width: of a line (default: of the terminal; 0: no limit);
//                                     the widest text columns are cut with "…" until the line fits: paths in front, others at their
//                                     end. Numbers and times are never cut: if texts have no room beside them, the widest one has a line of its own
// bar(value, most, width)             "@@@@" in proportion
// size(bytes)                         "1.5 MiB"
// counted(n, thing)                   "1 block", "3 blocks"
// ordered(entries, value?)            entries of an aggregation or map, the largest first; value(v) returns what to compare
//
// Host only.

import { options } from "gotap/module";

export function show(name, columns, rows, given) {
  const { head, top } = options("gotap/table", given, { head: true, top: Infinity });
  const all = columns.map(column => Array.isArray(column) ? column : [column, value => value]);
  const names = all.map(([column]) => column);
  const texts = rows.map(row => row.map((value, k) => all[k][1](value)));
  report({ name, columns: names, rows }, table(texts, { head: head ? names : undefined, top }));
}

export function table(rows, given) {
  const { head, top, width } = options("gotap/table", given, { head: undefined, top: Infinity, width: columns() });
  const shown = rows.slice(0, top).map(row => row.map(cell => String(cell)));
  const lines = head ? [head.map(String), ...shown] : shown;
  const count = Math.max(0, ...lines.map(line => line.length));
  const right = [], wide = [], shortest = [];
  for (let k = 0; k < count; k++) {
    right.push(rows.length > 0 && rows.every(row => isNumber(row[k])));
    shortest.push(leastOf(rows.map(row => row[k])));
    wide.push(Math.max(0, ...lines.map(line => length(line[k] ?? ""))));
  }
  const layout = fit(wide, shortest, width);
  const text = lines.flatMap(line => laidOut(line.map((cell, k) => pad(cell, layout.wide[k], right[k])), layout));
  if (rows.length > shown.length) text.push(`… and ${rows.length - shown.length} more`);
  return text.join("\n");
}

// A layout is the widths of columns, the blanks between them, and which column has a line of its own above the others.
const comfortable = 16; // characters: texts are cut to so many before columns move together

// fit chooses the widest layout whose lines fit the width. shortest is to how many characters each column may be cut.
function fit(wide, shortest, width) {
  const plain = { wide, gap: 2, own: -1 }, tight = { wide, gap: 1, own: -1 };
  if (width <= 0) return plain;
  for (const [gap, least] of [[2, comfortable], [1, 0]]) {
    const cut = narrowed(wide, shortest.map(n => Math.max(n, least)), width, gap);
    if (cut) return { wide: cut, gap, own: -1 };
  }
  const own = widest(wide, shortest);
  if (own < 0) return tight;
  const others = wide.toSpliced(own, 1), rest = fit(others, shortest.toSpliced(own, 1), width - indent.length);
  return rest.own >= 0 ? tight : { wide: rest.wide.toSpliced(own, 0, Math.min(wide[own], width)), gap: rest.gap, own };
}

// narrowed cuts the widest columns until a line fits; undefined if they may not be cut so far.
function narrowed(wide, shortest, width, gap) {
  const cut = [...wide];
  for (let over = cut.reduce((a, b) => a + b + gap, -gap) - width; over > 0; over--) {
    const k = widest(cut, shortest);
    if (k < 0) return undefined;
    cut[k]--;
  }
  return cut;
}

// widest returns the widest column that may be cut, or -1.
function widest(wide, shortest) {
  let found = -1;
  for (let k = 0; k < wide.length; k++) if (wide[k] > shortest[k] && (found < 0 || wide[k] > wide[found])) found = k;
  return found;
}

// leastOf returns to how many characters a column may be cut: numbers and times not at all.
function leastOf(cells) {
  if (cells.length > 0 && cells.every(cell => isNumber(cell) || isTime(cell))) return Infinity;
  return cells.some(cell => isPath.test(cell)) ? 16 : 8;
}

const indent = "  ";

// laidOut returns the lines of a row of padded cells.
function laidOut(cells, { gap, own }) {
  const line = cells.filter((_, k) => k !== own).join(" ".repeat(gap)).trimEnd();
  return own < 0 ? [line] : [cells[own].trimEnd(), indent + line];
}

const isNumber = v => typeof v === "number" || typeof v === "bigint" || (typeof v === "string" && /^-?[\d.]+( ?[kKMGT]?i?B?|%)$/.test(v));
const isTime = v => /^-?[\d.]+ ([num]?s|min( \d+ s)?)$/.test(v);
const length = text => columns(text);

function pad(text, width, right) {
  if (length(text) > width) text = isPath.test(text) ? pathEnd(text, width) : cut(text, width - 1) + "…";
  const blank = " ".repeat(Math.max(0, width - length(text)));
  return right ? blank + text : text + blank;
}

// cut shortens a text to a number of columns.
function cut(text, width) {
  let kept = "";
  for (const letter of text) {
    width -= length(letter);
    if (width < 0) break;
    kept += letter;
  }
  return kept;
}

const isPath = /^\.{0,2}\/[^*]/; // not a comment, as in SQL

// pathEnd shortens a path to its end, at a slash unless much would be lost.
function pathEnd(path, width) {
  const letters = [...path];
  let kept = "";
  for (let room = width - 1; room > 0 && letters.length > 0;) {
    const letter = letters.pop();
    room -= length(letter);
    if (room >= 0) kept = letter + kept;
  }
  const slash = kept.indexOf("/");
  return "…" + (slash > 0 && slash <= kept.length / 2 ? kept.slice(slash) : kept);
}

export function bar(value, most, width = 40) {
  return "@".repeat(most > 0 ? Math.round(Number(value) / Number(most) * width) : 0);
}

export function size(bytes) {
  let n = Number(bytes);
  for (const unit of ["B", "KiB", "MiB", "GiB"]) {
    if (Math.abs(n) < 1024) return `${unit === "B" ? n : n.toFixed(1)} ${unit}`;
    n /= 1024;
  }
  return `${n.toFixed(1)} TiB`;
}

export function ordered(entries, value = v => v) {
  return [...entries].sort((a, b) => Number(value(b[1])) - Number(value(a[1])));
}

export const counted = (n, thing) => `${n} ${thing}${Number(n) === 1 ? "" : "s"}`;
