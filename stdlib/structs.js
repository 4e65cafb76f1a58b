// gotap/structs: parts of registers and of memory.
//
// In programs, inlined:
//   int(v)        the low 32 bits as a signed number, for results of C functions that return int
//   uint(v)       the low 32 bits as an unsigned number
//   failed(v)     whether the int is negative; an address is not, whatever its low 32 bits are. failed(integer(c.ret)) is for functions
//                 whose results may be of any type
//   bit(v, n)     whether bit n is set
//   within(v, lo, hi)    lo <= v && v < hi
//
// On the host:
//   layout({ name: "u32", … })    a reader of structs: fields in order, aligned as in C; types u8 u16 u32 u64 i8 i16 i32 i64
//                                 f32 f64 ptr, "char[16]" for text and "u8[6]" for bytes; layout.size and layout.read(bytes, at?)
//
//   import { int, layout } from "gotap/structs";
//   const timespec = layout({ sec: "i64", nsec: "i64" });
//   probe("libc:clock_nanosleep", { enter(c) { exit({ t: bytes(c.arg2, 16) }); }, exit(e) { console.log(timespec.read(e.t).sec); } });

export function int(v) { return (v << 32) >> 32; }
export function uint(v) { return v & 0xffffffff; }
export function failed(v) { return ((v << 32) >> 32) < 0 && (v >> 32 === 0 || v >> 32 === -1); }
export function bit(v, n) { return ((v >> n) & 1) === 1; }
export function within(v, lo, hi) { return lo <= v && v < hi; }

const largest = 2n ** 53n; // numbers below it are exact
const sizes = { u8: 1, i8: 1, u16: 2, i16: 2, u32: 4, i32: 4, u64: 8, i64: 8, f32: 4, f64: 8, ptr: 8 };

export function layout(fields) {
  let size = 0, widest = 1;
  const members = [];
  for (const [name, type] of Object.entries(fields)) {
    const array = /^(u8|char)\[(\d+)\]$/.exec(type);
    const width = array ? 1 : sizes[type];
    if (!width) throw new TypeError(`gotap/structs: field ${name} has the unknown type ${type}`);
    size = Math.ceil(size / width) * width;
    members.push({ name, type: array ? array[1] : type, offset: size, length: array ? Number(array[2]) : 0 });
    size += array ? Number(array[2]) : width;
    widest = Math.max(widest, width);
  }
  size = Math.ceil(size / widest) * widest;
  return { size, read: (bytes, at = 0) => readAll(members, size, bytes, at) };
}

function readAll(members, size, bytes, at) {
  if (bytes.length < at + size) throw new RangeError(`gotap/structs: ${bytes.length} bytes are too few for ${size} at ${at}`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const out = {};
  for (const m of members) out[m.name] = m.length > 0 ? run(bytes, at + m.offset, m) : word(view, at + m.offset, m.type);
  return out;
}

// run returns an array field: a list of bytes, or its text.
function run(bytes, from, m) {
  const part = bytes.slice(from, from + m.length);
  if (m.type === "u8") return part;
  const zero = part.indexOf(0);
  return String.fromCharCode(...(zero < 0 ? part : part.slice(0, zero)));
}

// word reads a number; it returns a BigInt only where a Number is not exact.
function word(view, from, type) {
  switch (type) {
    case "u8": return view.getUint8(from);
    case "i8": return view.getInt8(from);
    case "u16": return view.getUint16(from, true);
    case "i16": return view.getInt16(from, true);
    case "u32": return view.getUint32(from, true);
    case "i32": return view.getInt32(from, true);
    case "f32": return view.getFloat32(from, true);
    case "f64": return view.getFloat64(from, true);
    case "i64": return exact(view.getBigInt64(from, true));
    default: return exact(BigInt.asUintN(64, view.getBigUint64(from, true)));
  }
}

function exact(n) {
  return n > -largest && n < largest ? Number(n) : n;
}
