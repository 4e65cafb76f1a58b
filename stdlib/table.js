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
//                                     the widest text columns are cut with "…" until the line fits
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
  const right = [], wide = [];
  for (let k = 0; k < count; k++) {
    right.push(rows.length > 0 && rows.every(row => isNumber(row[k])));
    wide.push(Math.max(0, ...lines.map(line => length(line[k] ?? ""))));
  }
  fit(wide, right, width);
  const text = lines.map(line => line.map((cell, k) => pad(cell, wide[k], right[k])).join("  ").trimEnd());
  if (rows.length > shown.length) text.push(`… and ${rows.length - shown.length} more`);
  return text.join("\n");
}

const least = 8; // characters: no column is cut to fewer

// fit narrows the widest text columns until a line fits the width, in characters.
function fit(wide, right, width) {
  if (width <= 0) return;
  for (let over = wide.reduce((a, b) => a + b + 2, -2) - width; over > 0; over--) {
    let widest = -1;
    for (let k = 0; k < wide.length; k++) if (!right[k] && wide[k] > least && (widest < 0 || wide[k] > wide[widest])) widest = k;
    if (widest < 0) return;
    wide[widest]--;
  }
}

const isNumber = v => typeof v === "number" || typeof v === "bigint" || (typeof v === "string" && /^-?[\d.]+( ?[kKMGT]?i?B?|%)$/.test(v));
const length = text => columns(text);

function pad(text, width, right) {
  if (length(text) > width) text = cut(text, width - 1) + "…";
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
