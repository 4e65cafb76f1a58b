// gotap/hexdump: bytes as text.
//
//   import { dump, printable } from "gotap/hexdump";
//   probe("libc:write", { enter(c) { exit({ data: bytes(c.arg1, min(c.arg2, 64)) }); }, exit(e) { console.log(dump(e.data)); } });
//
// dump(bytes, { base, width, limit })   lines of offset, hexadecimal and text; base is the first offset (0), width the bytes in
//                                       a line (16), limit how many bytes are shown (all); a last line counts the rest
// printable(bytes, limit?)              on one line: text as it is, \n \r \t \\ and \xNN for the rest; cut at limit with ".."
// hexBytes(bytes)                       "de ad be ef"
//
// Bytes are what bytes(p, n) in a program or memory(…) returns, or a string. Host only.

import { options } from "gotap/module";

const two = n => n.toString(16).padStart(2, "0");

export function hexBytes(bytes) { return Array.from(raw(bytes), two).join(" "); }

export function dump(bytes, given) {
  const { base, width, limit } = options("gotap/hexdump", given, { base: 0, width: 16, limit: Infinity });
  const all = raw(bytes);
  const shown = Math.min(all.length, limit);
  const lines = [];
  for (let at = 0; at < shown; at += width) lines.push(line(all.subarray(at, Math.min(at + width, shown)), BigInt(base) + BigInt(at), width));
  if (shown < all.length) lines.push(`… ${all.length - shown} more bytes`);
  return lines.join("\n");
}

function line(part, at, width) {
  const hex = Array.from(part, two).join(" ").padEnd(width * 3 - 1);
  const text = Array.from(part, b => b >= 32 && b < 127 ? String.fromCharCode(b) : ".").join("");
  return `${at.toString(16).padStart(8, "0")}  ${hex}  |${text}|`;
}

const escapes = { 9: "\\t", 10: "\\n", 13: "\\r", 92: "\\\\" };

export function printable(bytes, limit = Infinity) {
  const all = raw(bytes);
  const text = Array.from(all.subarray(0, Math.min(limit, all.length)), b =>
    escapes[b] || (b >= 32 && b < 127 ? String.fromCharCode(b) : "\\x" + two(b))).join("");
  return all.length > limit ? text + ".." : text;
}

function raw(bytes) {
  return typeof bytes === "string" ? Uint8Array.from(Array.from(bytes, c => c.charCodeAt(0))) : bytes;
}
