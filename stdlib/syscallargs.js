// gotap/syscallargs: the arguments of system calls: which memory they point to, and how they read.
//
//   import { typeOf } from "gotap/syscallargs";
//   typeOf("oflags").text(0o2000000, 2, { words: [], ins: {}, outs: {} });      // "O_RDONLY|O_CLOEXEC"
//
// typeOf(name)   a type of arguments: { before, after, text(word, k, call) }. before and after say which memory is read when the call begins and when
//                it has succeeded; text returns the text of argument k, or null if the call does not have it. call has { name, words, ins,
//                outs, ret }: ins and outs have the memory by position, a list of { data, text, i, whole }
// plan(names)    [before, after]: two numbers that tell takes() which memory to read for a call with arguments of these types
// takes(limit)   a program (c, plan, back, a, b, c, d, e, f, ret) that emits { at, back, i, whole, data } for each piece of memory, and text
//                instead of data for strings; at most limit bytes of each
//
// gotap/syscalls uses it.

import * as names from "gotap/flags";
import * as structs from "gotap/kernelstructs";
import * as rare from "gotap/callstructs";

const { quoted, pointer, u32At, u64At } = structs;

// Kinds of memory. A kind above fixed(0) is a struct of so many bytes.
const STRING = 1, BUFFER = 2, RESULT = 3, VECTOR = 4, STRINGS = 5, COUNTED = 6, MESSAGE = 7, SIZED = 8, FILLED = 9, POLLS = 10, EVENTS = 11, DIRENTS = 12, SETS = 13,
  WORD = 14, EVENT = 15, LOCK = 16, NAME = 17, FRAME = 18, MASK = 19, PAGES = 20, PRIOR = 21, GROUPS = 22, NAMELEN = 23, MESSAGES = 24, PIDFD = 25, SEMS = 26, WAITED = 27,
  BPF = 28, IOVECS = 29, WAITERS = 30, REQUESTS = 31, RING = 32, OWN = 33, POLICY = 34, HANDLE = 35, KEYS = 36, RULE = 37, COMPLETIONS = 38, PATHNAME = 39, FILLEDRING = 40, NODES = 41;
const fixed = bytes => 47 + bytes / 8;
const eventSize = (readFile("/proc/sys/kernel/arch") ?? "x86_64").startsWith("x86") ? 12 : 16;

export const typeOf = name => types[name];

export function plan(signature) {
  const sum = which => signature.reduce((all, name, k) => all + types[name][which] * 256 ** k, 0);
  return [sum("before"), sum("after")];
}

const low = v => (v << 32) >> 32;

function grab(at, back, i, p, n, whole) {
  if (n > 0 && readable(p, n)) emit({ at, back, i, whole, data: bytes(p, n) });
}

function vector(at, back, p, count, total, limit) {
  let left = total;
  for (let i = 0; i < min(count, 16) && left !== 0; i++) {
    if (!readable(p + 16 * i, 16)) break;
    const size = u64(p + 16 * i + 8), n = left < 0 ? size : min(left, size);
    if (left > 0) left = left - n;
    const base = u64(p + 16 * i);
    if (n === 0 || !readable(base, min(n, limit))) emit({ at, back, i: i + 1, whole: size, moved: n });
    else emit({ at, back, i: i + 1, whole: size, moved: n, data: bytes(base, min(n, limit)) });
  }
}

function stringList(at, p) {
  for (let i = 0; i < 33; i++) {
    if (!readable(p + 8 * i, 8)) break;
    const s = u64(p + 8 * i);
    if (s === 0) break;
    emit({ at, back: 0, i, text: readable(s) ? str(s, 256) : "" });
  }
}

function counted(at, p) {
  let n = 0;
  while (n < 4096 && readable(p + 8 * n, 8) && u64(p + 8 * n) !== 0) n++;
  emit({ at, back: 0, i: 0, whole: n, text: "" });
}

function entries(at, p, ret) {
  let n = 0;
  for (let q = p; q < p + ret && readable(q, 24) && u16(q + 16) > 0; q += u16(q + 16)) n++;
  emit({ at, back: 1, i: 0, whole: n, text: "" });
}

function message(at, back, p, ret, limit) {
  if (!readable(p, 56)) return;
  emit({ at, back, i: 0, whole: 56, data: bytes(p, 56) });
  const room = low(u32(p + 8));
  if (u64(p) !== 0) grab(at, back, 100, u64(p), min(room, 128), room);
  if (u64(p + 32) !== 0) grab(at, back, 101, u64(p + 32), min(u64(p + 40), 128), u64(p + 40));
  vector(at, back, u64(p + 16), u64(p + 24), back === 0 ? -1 : ret, limit);
}

// messages reads the array of sendmmsg and recvmmsg, when the call has set how long each message was.
function messages(at, p, count, limit) {
  for (let m = 0; m < min(count, 8); m++) {
    const q = p + 64 * m;
    if (!readable(q, 64)) break;
    emit({ at, back: 1, i: 200, whole: u32(q + 56), text: "" });
    message(at, 1, q, u32(q + 56), limit);
  }
}

function words(at, back, i, p) {
  if (p !== 0 && readable(p)) emit({ at, back, i, text: str(p, 1024) });
}

// attributes reads union bpf_attr, and the texts it points to. The number of such a text is its offset there, plus one.
function attributes(at, back, command, p, size, limit) {
  grab(at, back, 0, p, min(size, 144), size);
  if (size < 16) return;
  if (command === 6 || command === 7 || command === 17) words(at, back, 1, u64(p));
  if (command === 18) grab(at, back, 1, u64(p), min(u32(p + 16), limit), u32(p + 16));
  if (command === 20 && size >= 24 && u32(p + 12) > 0) words(at, back, 17, u64(p + 16));
  if (command === 5 && size >= 40) words(at, back, 17, u64(p + 16));
  if (command === 5 && size >= 40 && u32(p + 28) > 0) words(at, back, 33, u64(p + 32));
}

// requests reads the structs that io_submit has pointers to, and what is to be written.
function requests(at, p, count, limit) {
  for (let i = 0; i < min(count, 8) && readable(p + 8 * i, 8); i++) {
    const q = u64(p + 8 * i);
    grab(at, 0, 2 * i, q, 64, 64);
    if (!readable(q, 64)) continue;
    const kind = u16(q + 16), size = u64(q + 32);
    if (kind === 1) grab(at, 0, 2 * i + 1, u64(q + 24), min(size, limit), size);
    if (kind > 6) grab(at, 0, 2 * i + 1, u64(q + 24), 16 * min(size, 8), 16 * size);
  }
}

// ring reads what io_uring_register has for an operation.
function ring(at, operation, p, count) {
  if (operation === 0) grab(at, 0, 0, p, 16 * min(count, 16), 16 * count);
  if (operation === 2 || operation === 4 || operation === 7) grab(at, 0, 0, p, 4 * min(count, 32), 4 * count);
  if (operation !== 6 || !readable(p, 16)) return;
  grab(at, 0, 0, p, 16, 16);
  grab(at, 0, 1, u64(p + 8), 4 * min(count, 32), 4 * count);
}

// keys reads argument k of keyctl.
function keys(at, back, operation, p, next, ret) {
  if (back === 0 && (operation === 1 || operation === 10)) words(at, 0, 0, p);
  if (back === 0 && at === 2 && (operation === 2 || operation === 12)) grab(at, 0, 0, p, min(next, 32), next);
  if (back === 0 && at === 1 && operation === 23) grab(at, 0, 0, p, 12, 12);
  if (back === 1 && at === 2 && (operation === 6 || operation === 11 || operation === 17)) grab(at, 1, 0, p, min(ret, next, 32), min(ret, next));
}

function scarce(k, back, kind, a, b, before, p, next, ret, limit) {
  if (kind === 28) attributes(k, back, low(a), p, low(next), limit);
  if (kind === 29) grab(k, back, 0, p, 16 * min(next, 16), 16 * next);
  if (kind === 30) grab(k, back, 0, p, 24 * min(next, 16), 24 * next);
  if (kind === 31) requests(k, p, b, limit);
  if (kind === 32) ring(k, low(b), p, low(next));
  if (kind === 33 && readable(p, 8)) grab(k, back, 0, p, u32(p + 4) === 0 ? 64 : min(max(u32(p + 4), 64), 136), 64);
  if (kind === 34 && readable(p, 4)) grab(k, back, 0, p, u32(p) < 48 ? 48 : 56, 48);
  if (kind === 35 && readable(p, 8)) grab(k, back, 0, p, 8 + min(u32(p), 128), 8);
  if (kind === 36) keys(k, back, low(a), p, next, ret);
  if (kind === 37) grab(k, back, 0, p, 12, 12);
  if (kind === 38) grab(k, back, 0, p, 32 * min(ret, 16), 32 * ret);
  if (kind === 39 && ((a >> 8) & 0xffffff) === 0x800002) words(k, back, 0, p);
  if (kind === 41) grab(k, back, 0, p, 8 * min((next + 62) >> 6, 16), 8 * ((next + 62) >> 6));
  if (kind === 40 && low(b) === 8) grab(k, back, 0, p, 16 + 8 * min(low(next), 64), 8);
}

export function takes(limit) {
  const events = eventSize;
  return (ctx, plan, back, a, b, c, d, e, f, ret) => {
    const wide = ctx.sp >> 32 !== 0;
    for (let k = 0; k < 6; k++) {
      const kind = (plan >> (8 * k)) & 255;
      if (kind === 0) continue;
      const p = k === 0 ? a : k === 1 ? b : k === 2 ? c : k === 3 ? d : k === 4 ? e : f;
      const next = k === 0 ? b : k === 1 ? c : k === 2 ? d : k === 3 ? e : f;
      const before = k < 2 ? a : b;
      if (kind === 18) { // the frame of a signal's handler, on the stack
        if (wide) grab(k, back, 0, ctx.sp + 296, 8, 8);
        continue;
      }
      if (p === 0 || !readable(p)) continue;
      if (kind === 1) emit({ at: k, back, i: 0, text: str(p, 1024) });
      if (kind === 17 && low(a) === 15) emit({ at: k, back, i: 0, text: str(p, 16) });
      if (kind === 2) grab(k, back, 0, p, min(next < 0 ? 0 : next, limit), next);
      if (kind === 3) grab(k, back, 0, p, min(ret, limit), ret);
      if (kind === 8) grab(k, back, 0, p, min(low(next), 128), low(next));
      if (kind === 14) grab(k, back, 0, p, 4, 4);
      if (kind === 9 && readable(next, 4)) grab(k, back, 0, p, min(u32(next), 128), u32(next));
      if (kind === 10) grab(k, back, 0, p, 8 * min(low(next), 32), 8 * low(next));
      if (kind === 13) grab(k, back, 0, p, 8 * ((min(low(a), 1024) + 63) >> 6), 128);
      if (!wide) continue;
      if (kind === 4) vector(k, back, p, low(next), back === 0 ? -1 : ret, limit);
      if (kind === 5) stringList(k, p);
      if (kind === 6) counted(k, p);
      if (kind === 7) message(k, back, p, ret, limit);
      if (kind === 11) grab(k, back, 0, p, events * min(ret, 32), events * ret);
      if (kind === 12) entries(k, p, ret);
      if (kind === 15) grab(k, back, 0, p, events, events);
      if (kind === 16 && (low(before) >= 5 && low(before) <= 7 || low(before) >= 36 && low(before) <= 38)) grab(k, back, 0, p, 32, 32);
      if (kind === 19 && readable(p, 8) && u64(p) !== 0) grab(k, back, 0, u64(p), 8, 8);
      if (kind === 16 && (low(before) === 15 || low(before) === 16)) grab(k, back, 0, p, 8, 8);
      if (kind === 20) grab(k, back, 0, p, min((b + 4095) >> 12, 32), (b + 4095) >> 12);
      if (kind === 21) grab(k, back, 0, p, min(before, 128), before);
      if (kind === 22) grab(k, back, 0, p, 4 * min(back === 0 ? low(before) : ret, 32), 4 * (back === 0 ? low(before) : ret));
      if (kind === 23) grab(k, back, 0, p + 8, 4, 4);
      if (kind === 24) messages(k, p, ret, limit);
      if (kind === 25 && (u64(p) & 0x1000) !== 0) grab(k, back, 0, u64(p + 8), 4, 4);
      if (kind === 26) grab(k, back, 0, p, 6 * min(next, 16), 6 * next);
      if (kind === 27 && ret > 0) grab(k, back, 0, p, 128, 128);
      if (kind > 27 && kind < 48) scarce(k, back, kind, a, b, before, p, next, ret, limit);
      if (kind > 47) grab(k, back, 0, p, 8 * (kind - 47), 8 * (kind - 47));
    }
  };
}

const int = n => String(BigInt.asIntN(32, BigInt(n)));
const hex = n => BigInt(n) === 0n ? "0" : "0x" + BigInt.asUintN(64, BigInt(n)).toString(16);
const unsigned = n => String(BigInt.asUintN(64, BigInt(n)));
const small = n => Number(BigInt.asIntN(32, BigInt(n)));

const plain = text => ({ before: 0, after: 0, text });

// read is a type whose memory becomes text, once it is there; until then, and if the call failed, it is an address.
const read = (before, after, text) => ({
  before, after,
  text(word, k, call) {
    const parts = (after > 0 ? call.outs[k] : undefined) ?? (before > 0 ? call.ins[k] : undefined);
    return parts === undefined ? pointer(word) : text(parts[0].data, parts, call, k);
  },
});
const input = (bytes, text) => read(fixed(bytes), 0, text), output = (bytes, text) => read(0, fixed(bytes), text);

// late is a type that strace reads when the call has returned, and shows as an address if it failed.
const late = type => ({ ...type, text: (word, k, call) => call.ret < 0 ? pointer(word) : type.text(word, k, call) });

const data = (b, parts, _call) => quoted(b, Number(parts[0].whole));
const afterwards = (kind, quote = data) => ({
  before: 0, after: kind,
  text: (word, k, call) => call.outs[k] ? quote(call.outs[k][0].data, call.outs[k], call) : Number(call.ret) === 0 && BigInt(word) !== 0n ? '""' : pointer(word),
});

const one = b => `[${u32At(b, 0) | 0}]`;
const changed = (word, k, call) => {
  const before = call.ins[k]?.[0].data, after = call.outs[k]?.[0].data;
  if (before === undefined) return pointer(word);
  const was = u32At(before, 0), is = after ? u32At(after, 0) : was;
  return was === is ? `[${is}]` : `[${was} => ${is}]`;
};

function iovec(parts, count) {
  const texts = parts.filter(part => part.i > 0 && part.i < 100).map(part => `{iov_base=${part.data === undefined ? '""' : quoted(part.data, Number(part.moved))}, iov_len=${part.whole}}`);
  return `[${texts.join(", ")}${count > 16 ? ", ..." : ""}]`;
}

function messageText(b, parts, room) {
  const name = parts.find(part => part.i === 100), rights = parts.find(part => part.i === 101), n = Number(u64At(b, 24));
  const control = u64At(b, 40), length = u32At(b, 8);
  const head = `{msg_name=${name ? structs.sockaddrText(name.data) : pointer(u64At(b, 0))}, msg_namelen=${room === undefined || room === length ? "" : `${room} => `}${length}`;
  return `${head}, msg_iov=${iovec(parts, n)}, msg_iovlen=${n}, ${control === 0n ? "" : `msg_control=${rights ? structs.controlText(rights.data) : pointer(u64At(b, 32))}, `}msg_controllen=${control}, ` +
    `msg_flags=${names.messageFlags(u32At(b, 48))}}`;
}

// A message that was to be received, of which a failed call leaves only how much room there was for the name.
const received = {
  before: NAMELEN, after: MESSAGE,
  text(word, k, call) {
    const room = call.ins[k] && u32At(call.ins[k][0].data, 0);
    if (call.outs[k]) return messageText(call.outs[k][0].data, call.outs[k], room);
    return room === undefined ? pointer(word) : `{msg_namelen=${room}}`;
  },
};

// messagesText is the array of sendmmsg and recvmmsg. A part with the number 200 begins each message.
function messagesText(b, parts) {
  const all = [];
  for (const part of parts) part.i === 200 ? all.push([part]) : all[all.length - 1].push(part);
  return `[${all.map(([head, ...rest]) => `{msg_hdr=${messageText(rest[0].data, rest)}, msg_len=${head.whole}}`).join(", ")}]`;
}

// Options that strace shows as other things than a number: structs, and text.
function optionText(b, parts, call) {
  const option = names.socketOption(call.words[1], call.words[2]);
  if (option === "SO_LINGER") return `{l_onoff=${u32At(b, 0)}, l_linger=${u32At(b, 4)}}`;
  if (option === "SO_PEERCRED" && b.length === 12) return structs.personText(b);
  return b.length === 4 ? one(b) : quoted(b, Number(parts[0].whole));
}

const modeOf = (word, k, call) => (BigInt(call.words[k - 1]) & (0o100n | 0o20000000n)) === 0n ? null : names.fileMode(word);

const datedTime = b => `${structs.timevalText(b)} /* ${structs.dateText(u64At(b, 0)).replace("+", `${u64At(b, 8) === 0n ? "" : "." + String(u64At(b, 8)).padStart(6, "0")}+`)} */`;
const nodesText = b => `[${Array.from({ length: b.length >> 3 }, (_, k) => u64At(b, 8 * k)).map(n => n === 0n ? "0".repeat(16) : "0x" + n.toString(16).padStart(14, "0")).join(", ")}]`;

const future = { 0x3fffffff: "UTIME_NOW", 0x3ffffffe: "UTIME_OMIT" };
function stamp(b) {
  const nsec = Number(u64At(b, 8));
  if (future[nsec]) return future[nsec];
  const seconds = Number(structs.i64At(b, 0)), fraction = nsec === 0 ? "" : "." + String(nsec).padStart(9, "0");
  return `${structs.timespecText(b)} /* ${structs.dateText(seconds).slice(0, 19)}${fraction}+0000 */`;
}

const futexName = call => names.futexOp(call.words[1]).replace(/_PRIVATE.*|\|.*/, "").slice(6);
const waits = /^(WAIT|WAIT_BITSET|LOCK_PI|LOCK_PI2|WAIT_REQUEUE_PI)$/, moves = /^(REQUEUE|CMP_REQUEUE|WAKE_OP|CMP_REQUEUE_PI)$/;
const isUnknown = call => /^0x/.test(names.futexOp(call.words[1]));
const bitset = n => BigInt.asUintN(32, BigInt(n)) === 0xffffffffn ? "FUTEX_BITSET_MATCH_ANY" : hex(BigInt.asUintN(32, BigInt(n)));

// x86-64 has the arguments of clone in the order flags, stack, parent, child, tls.
function cloned(word, k, call) {
  const [flags, stack, parent, child, tls] = call.words, has = bit => (BigInt(flags) & BigInt(bit)) !== 0n;
  const texts = [`child_stack=${pointer(stack)}`, `flags=${names.cloneFlags(flags)}`];
  if (has(0x100000)) texts.push(`parent_tid=${Number(call.ret) > 0 ? `[${call.ret}]` : pointer(parent)}`);
  if (has(0x80000)) texts.push(`tls=${pointer(tls)}`);
  if (has(0x1200000)) texts.push(`child_tidptr=${pointer(child)}`);
  return texts.join(", ");
}

function ioctlArgument(word, k, call) {
  const name = names.ioctlName(call.words[1]);
  if (/^FIO(N?)CLEX$/.test(name)) return null;
  if (/FICLONE/.test(name)) return int(word);
  const set = call.ins[k]?.[0].data, got = call.outs[k]?.[0].data;
  if (/^(FIONBIO|FIOASYNC|TIOCSPGRP)$/.test(name) && set) return one(set);
  if (/^(FIONREAD|TIOCGPGRP)$/.test(name) && got) return one(got);
  const half = n => got[n] | got[n + 1] << 8;
  if (name === "TIOCGWINSZ" && got) return `{ws_row=${half(0)}, ws_col=${half(2)}, ws_xpixel=${half(4)}, ws_ypixel=${half(6)}}`;
  return pointer(word);
}

function fcntlArgument(word, k, call) {
  const op = names.fcntlOp(call.words[1]), memory = call.outs[k]?.[0].data ?? call.ins[k]?.[0].data;
  if (/^F_(GETFD|GETFL|GETOWN|GETSIG|GETLEASE|GETPIPE_SZ|GET_SEALS)$/.test(op)) return null;
  switch (op) {
    case "F_SETFD": return names.flags(word, { FD_CLOEXEC: 1 });
    case "F_SETFL": return names.openFlags(word);
    case "F_SETLEASE": return names.leaseType(word);
    case "F_NOTIFY": return names.notifyMask(word);
    case "F_ADD_SEALS": return names.sealFlags(word);
    case "F_SETSIG": return structs.kernelSignal(small(word));
    case "F_GETOWN_EX": case "F_SETOWN_EX": return memory ? structs.ownerText(memory) : pointer(word);
  }
  if (/LK/.test(op)) return memory ? structs.flockText(memory, /GETLK/.test(op)) : pointer(word);
  return op.startsWith("0x") ? hex(word) : int(word);
}

// How many arguments the options of prctl have; all four where none is given here.
const prctlRest = { PR_SET_NAME: 1, PR_GET_NAME: 1, PR_SET_PDEATHSIG: 1, PR_GET_PDEATHSIG: 1, PR_SET_DUMPABLE: 1, PR_GET_DUMPABLE: 0, PR_CAPBSET_READ: 1, PR_CAPBSET_DROP: 1, PR_SET_KEEPCAPS: 1,
  PR_GET_KEEPCAPS: 0, PR_GET_SECCOMP: 0, PR_SET_CHILD_SUBREAPER: 1, PR_GET_TIMERSLACK: 0, PR_SET_TIMERSLACK: 1 };

const longestName = 15;

function prctlFirst(word, k, call) {
  const option = names.prctlOption(call.words[0]), got = call.outs[k]?.[0].data;
  if (prctlRest[option] === 0) return null;
  switch (option) {
    case "PR_SET_NAME": return call.ins[k] ? quoted(call.ins[k][0].text, undefined, longestName) : pointer(word);
    case "PR_GET_NAME": return got ? quoted(got.slice(0, got.indexOf(0))) : pointer(word);
    case "PR_SET_PDEATHSIG": return structs.kernelSignal(small(word));
    case "PR_GET_PDEATHSIG": return got ? `[${u32At(got, 0) === 0 ? "0" : structs.kernelSignal(u32At(got, 0))}]` : pointer(word);
    case "PR_SET_DUMPABLE": return names.dumpable(word);
    case "PR_SET_SECCOMP": return names.seccompMode(word);
    case "PR_CAPBSET_READ": case "PR_CAPBSET_DROP": return names.capability(word);
    case "PR_SET_NO_NEW_PRIVS": case "PR_SET_CHILD_SUBREAPER": case "PR_SET_KEEPCAPS": case "PR_SET_TIMERSLACK": return unsigned(word);
  }
  return hex(word);
}

// clone3 writes the numbers of the child and of its file descriptor.
function cloned3(b, parts, call, k) {
  const set = call.ins[k]?.[0].data, told = [];
  if (set === undefined || set.length < 64) return pointer(call.words[k]);
  if (Number(call.ret) > 0) {
    if (call.outs[k]) told.push(`pidfd=[${u32At(call.outs[k][0].data, 0)}]`);
    if (u64At(set, 0) & 0x100000n) told.push(`parent_tid=[${call.ret}]`);
  }
  return structs.cloneText(set) + (told.length > 0 ? ` => {${told.join(", ")}}` : "");
}

// An address is cut where the caller's buffer for it ends, which the length before the call tells.
function filledAddress(b, parts, call, k) {
  const room = call.ins[k + 1] ? u32At(call.ins[k + 1][0].data, 0) : b.length;
  return structs.sockaddrText(b.slice(0, room));
}

const types = {
  d: plain(int), l: plain(n => String(BigInt.asIntN(64, BigInt(n)))), u: plain(unsigned), x: plain(hex), p: plain(pointer), size: plain(unsigned),
  at: plain(names.dirfd), oflags: plain(names.openFlags), omode: plain(modeOf), mode: plain(names.fileMode), kind: plain(n => names.fileKind(small(n))), access: plain(names.accessMode),
  atflags: plain(names.atFlags), accflags: plain(names.accessFlags), statxflags: plain(names.statxFlags), statxmask: plain(names.statxMask), prot: plain(names.mmapProt), mflags: plain(names.mmapFlags),
  reflags: plain(names.mremapFlags), readdr: plain((w, k, call) => small(call.words[3]) & 2 ? pointer(w) : null), madvice: plain(names.madvice), whence: plain(names.whence),
  pflags: plain(names.pipeFlags), lock: plain(names.lockOp), family: plain(names.family), stype: plain(names.socketType),
  skip: plain(() => null), protocol: plain((w, k, call) => names.protocol(w, call.words[0])), aflags: plain(names.acceptFlags), shut: plain(names.shutdownHow), level: plain(names.socketLevel),
  sockopt: plain((w, k, call) => names.socketOption(call.words[1], w)), msgflags: plain(names.messageFlags), epop: plain(names.epollOp), clock: plain(names.clockName),
  pflags2: plain((w, k, call) => names.flags(w, { [{ epoll_create1: "EPOLL", timerfd_create: "TFD" }[call.name] + "_CLOEXEC"]: 0o2000000,
    [{ timerfd_create: "TFD" }[call.name] + "_NONBLOCK"]: 0o4000 })), inflags: plain(n => names.flags(n, { IN_NONBLOCK: 0o4000, IN_CLOEXEC: 0o2000000 }, "0", "IN_")),
  eflags: plain(n => names.flags(n, { EFD_SEMAPHORE: 1, EFD_CLOEXEC: 0o2000000, EFD_NONBLOCK: 0o4000 })), timerflags: plain(n => names.flags(n, { TIMER_ABSTIME: 1 })),
  waitopts: plain(names.waitOptions), idtype: plain(n => ["P_ALL", "P_PID", "P_PGID", "P_PIDFD"][small(n)] ?? int(n)), sig: plain(n => structs.kernelSignal(small(n))),
  itimer: plain(names.itimer), renflags: plain(n => names.flags(n, { RENAME_NOREPLACE: 1, RENAME_EXCHANGE: 2, RENAME_WHITEOUT: 4 })), fadvice: plain(names.fadvice),
  how: plain(names.sigprocmaskHow), archop: plain(names.archOption), resource: plain(names.resource), who: plain(names.rusageWho), grnd: plain(names.randomFlags),
  path: read(STRING, 0, (b, parts) => quoted(parts[0].text)), buf: { before: BUFFER, after: 0, text: (w, k, call) => call.ins[k] ? data(call.ins[k][0].data, call.ins[k]) : BigInt(call.words[k + 1]) === 0n && BigInt(w) !== 0n ? '""' : pointer(w) }, rbuf: afterwards(RESULT), rstr: afterwards(RESULT),
  cwd: afterwards(STRING, (b, parts) => quoted(parts[0].text)),
  random: afterwards(RESULT, (b, parts) => structs.hexQuoted(b, Number(parts[0].whole))), dirents: { before: 0, after: DIRENTS, text: (w, k, call) => `${pointer(w)}${call.ret >= 0 ? ` /* ${call.outs[k]?.[0].whole ?? 0} entries */` : ""}` },
  rwflags: plain(names.rwFlags), openhow: read(SIZED, 0, (b, parts, call, k) => b.length < 24 ? pointer(call.words[k]) : structs.openHowText(b)), closeflags: plain(names.closeRangeFlags), mlockflags: plain(names.mlockFlags), mlockallflags: plain(names.mlockallFlags),
  msyncflags: plain(names.msyncFlags), pages: read(0, PAGES, b => `[${Array.from(b).join(", ")}]`), mmsg: read(0, MESSAGES, messagesText), sfdflags: plain(names.signalfdFlags),
  tsleft: { ...input(16, structs.timespecText), after: fixed(16), text: (w, k, call) => call.ins[k] ? structs.timespecText(call.ins[k][0].data) : pointer(w) },
  tvleft: { ...input(16, structs.timevalText), after: fixed(16), text: (w, k, call) => call.ins[k] ? structs.timevalText(call.ins[k][0].data) : pointer(w) },
  rtime: output(8, b => `[${u64At(b, 0)} /* ${structs.dateText(u64At(b, 0))} */]`), tms: output(32, structs.tmsText), ingroups: read(GROUPS, 0, structs.intsText),
  falloc: plain(names.fallocateMode), dev: plain((w, k, call) => /^S_IF(CHR|BLK)/.test(names.fileKind(small(call.words[k - 1]))) ?
    `makedev(${hex(BigInt(w) >> 8n & 0xfffn)}, ${hex(BigInt(w) & 0xffn | BigInt(w) >> 12n & 0xfff00n)})` : null),
  loff: input(8, b => `[${structs.i64At(b, 0)}]`), splice: plain(names.spliceFlags), syncrange: plain(names.syncRangeFlags), xattr: plain(names.xattrFlags), memfd: plain(names.memfdFlags),
  waited: read(0, WAITED, structs.siginfoText), insiginfo: input(128, structs.siginfoText), prio: plain(names.priorityWhich), policy: plain(names.policy), inint: read(WORD, 0, one),
  incpus: read(PRIOR, 0, structs.cpuSet), membarrier: plain(names.membarrierCommand), membarriercpu: plain((w, k, call) => small(call.words[1]) === 0 ? null : int(w)),
  tfdtimer: plain(names.timerfdFlags), inmask: plain(names.inotifyMask), caphead: { ...output(8, structs.capHeadText) }, capdata: output(24, structs.capDataText), sigevent: input(24, structs.sigeventText),
  ipckey: plain(names.ipcKey), ipcflags: plain(names.ipcFlags), ipccmd: plain(names.ipcCommand), shmflags: plain(names.shmFlags), sems: read(SEMS, 0, structs.semText),
  pidfdflags: plain(names.pidfdFlags), nsflags: plain(n => names.cloneFlags(n)), mountflags: plain(names.mountFlags), umount: plain(names.unmountFlags),
  mountdata: read(STRING, 0, (b, parts) => quoted(parts[0].text)),
  archarg: { before: 0, after: fixed(8), text: (w, k, call) => /_GET_[FG]S$/.test(names.archOption(call.words[0])) && call.outs[k] ? `[${pointer(u64At(call.outs[k][0].data, 0))}]` : /^0x/.test(names.archOption(call.words[0])) ? hex(w) : pointer(w) },
  iov: read(VECTOR, 0, (b, parts, call) => iovec(parts, small(call.words[2]))), riov: { before: IOVECS, after: VECTOR, text: (w, k, call) => call.outs[k] ? iovec(call.outs[k], Number(call.words[k + 1])) : call.ins[k] ? rare.vectorText(call.ins[k][0].data) : pointer(w) },
  argv: read(STRINGS, 0, (b, parts, call) => `[${parts.slice(0, 32).map(part => quoted(part.text, 0, call.size)).join(", ")}${parts.length > 32 ? ", ..." : ""}]`),
  envp: { before: COUNTED, after: 0, text: (w, k, call) => `${pointer(w)}${call.ins[k] ? ` /* ${call.ins[k][0].whole} var${Number(call.ins[k][0].whole) === 1 ? "" : "s"} */` : ""}` },
  msg: read(MESSAGE, 0, (b, parts) => messageText(b, parts)), rmsg: received, addr: read(SIZED, 0, (b, parts, call, k) => b.length < 2 ? pointer(call.words[k]) : structs.sockaddrText(b)),
  raddr: read(0, FILLED, filledAddress),
  addrlen: { before: WORD, after: WORD, text: changed }, val: read(SIZED, 0, optionText), rval: read(0, FILLED, optionText),
  poll: read(POLLS, POLLS, (b, parts, call, k) => structs.pollText(call.ins[k][0].data, false, Number(parts[0].whole) > b.length)),
  set: read(SETS, SETS, (b, parts, call, k) => structs.fdSet((call.ins[k] ?? parts)[0].data, small(call.words[0]))),
  events: { before: 0, after: EVENTS, text: (w, k, call) => call.outs[k] ? structs.epollText(call.outs[k][0].data, eventSize) : Number(call.ret) === 0 ? "[]" : pointer(w) }, event: read(EVENT, 0, (b, parts, call, k) => names.epollOp(call.words[1]) === "EPOLL_CTL_DEL" ? pointer(call.words[k]) : structs.epollEvent(b, eventSize)),
  ioctl: plain(names.ioctlName), ioarg: { before: WORD, after: fixed(8), text: ioctlArgument }, fcntl: plain(names.fcntlOp), fcarg: { before: LOCK, after: LOCK, text: fcntlArgument },
  stat: output(144, structs.statText), statx: output(256, structs.statxText), statfs: output(120, structs.statfsText), pair: output(8, b => `[${u32At(b, 0) | 0}, ${u32At(b, 4) | 0}]`),
  ts: input(16, structs.timespecText), tv: input(16, structs.timevalText), rts: output(16, structs.timespecText), rtv: output(16, structs.timevalText), rem: plain(pointer),
  itv: input(32, b => structs.itimerText(b)), ritv: output(32, b => structs.itimerText(b)), its: input(32, b => structs.itimerText(b, structs.timespecText)),
  rits: output(32, b => structs.itimerText(b, structs.timespecText)), rint: read(0, WORD, one), rlong: output(8, b => `[${u64At(b, 0)}]`),
  times: input(32, b => { const two = [stamp(b), stamp(b.slice(16))]; return `[${two.join(", ")}]`; }),
  lateset: late(input(8, structs.sigsetText)), latets: late(input(16, structs.timespecText)), sigset: input(8, structs.sigsetText), rsigset: output(8, structs.sigsetText), sigaction: input(32, structs.sigactionText), rsigaction: output(32, structs.sigactionText),
  frame: { before: FRAME, after: 0, text: (w, k, call) => call.ins[k] ? `{mask=${structs.sigsetText(call.ins[k][0].data)}}` : null },
  maskarg: { before: MASK, after: 0, text: (w, k, call) => BigInt(w) === 0n ? "NULL" : `{sigmask=${call.ins[k] ? structs.sigsetText(call.ins[k][0].data) : "NULL"}, sigsetsize=8}` },
  altstack: input(24, structs.sigaltstackText), raltstack: output(24, structs.sigaltstackText), siginfo: output(128, structs.siginfoText),
  status: read(0, WORD, (b, parts, call, k) => Number(call.ret) > 0 ? `[${structs.waitStatus(u32At(b, 0))}]` : pointer(call.words[k])),
  rusage: read(0, fixed(144), (b, parts, call, k) => call.name !== "getrusage" && Number(call.ret) === 0 && call.name === "wait4" ? pointer(call.words[k]) : structs.rusageText(b)),
  rlim: input(16, structs.rlimitText), rrlim: output(16, structs.rlimitText), utsname: output(384, structs.utsnameText), sysinfo: output(112, structs.sysinfoText),
  cpus: afterwards(RESULT, structs.cpuSet), offset: read(fixed(8), fixed(8), (b, parts, call, k) => `[${u64At(call.ins[k][0].data, 0)}] => [${u64At(b, 0)}]`), groups: { before: 0, after: GROUPS, text: (w, k, call) => call.outs[k] ? structs.intsText(call.outs[k][0].data) : Number(call.ret) === 0 && BigInt(w) !== 0n ? "[]" : pointer(w) },
  clone: plain(cloned), clone3: read(SIZED, PIDFD, cloned3),
  futexop: plain(names.futexOp), futexval: plain((n, k, call) => /^(LOCK_PI|LOCK_PI2|UNLOCK_PI|TRYLOCK_PI)$/.test(futexName(call)) ? null : String(BigInt.asUintN(32, BigInt(n)))),
  futextime: { before: fixed(16), after: 0, text: (w, k, call) => isUnknown(call) ? hex(w) : waits.test(futexName(call)) ? call.ins[k] ? structs.timespecText(call.ins[k][0].data) : pointer(w) :
    moves.test(futexName(call)) ? int(w) : futexName(call) === "WAKE_BITSET" ? bitset(call.words[5]) : null },
  futexaddr: plain((w, k, call) => isUnknown(call) || moves.test(futexName(call)) ? pointer(w) : null),
  futexlast: plain((w, k, call) => isUnknown(call) ? String(BigInt.asUintN(32, BigInt(w))) : futexName(call) === "WAIT_BITSET" ? bitset(w) : moves.test(futexName(call)) && futexName(call) !== "REQUEUE" ? futexWakeOp(w, call) : null),
  prctl: plain(names.prctlOption), prname: { before: NAME, after: fixed(16), text: prctlFirst },
  prrest: plain((w, k, call) => prctlRest[names.prctlOption(call.words[0])] === undefined ? hex(w) : null),
  iopriowhich: plain(names.ioprioWhich), ioprio: plain(names.ioprio), persona: plain(names.persona), seccompop: plain(names.seccompOp),
  seccompflags: plain((w, k, call) => small(call.words[0]) === 1 ? names.seccompFlags(w) : hex(w)),
  keyctl: plain(names.keyctlOp), key: plain(names.keySerial), keyarg: { before: KEYS, after: KEYS, text: rare.keyArgument },
  bpf: plain(names.bpfCommand), bpfattr: { before: BPF, after: BPF, text: rare.bpfArgument }, uringflags: plain(names.uringEnter), uringop: plain(names.uringRegister),
  uring: { before: fixed(120), after: fixed(120), text: (w, k, call) => call.ins[k] ? rare.uringText(call.ins[k][0].data, call.outs[k]?.[0].data) : pointer(w) },
  ringarg: { before: RING, after: FILLEDRING, text: rare.ringArgument }, addresses: read(IOVECS, 0, rare.vectorText), waiters: { before: WAITERS, after: 0,
    text: (w, k, call) => call.ins[k] ? rare.waitersText(call.ins[k][0].data) : Number(call.words[k + 1]) === 0 && BigInt(w) !== 0n ? "[]" : pointer(w) },
  perf: read(OWN, 0, rare.perfText), requests: { before: REQUESTS, after: 0, text: rare.requestList }, context: plain(pointer), rcontext: output(8, b => `[${pointer(u64At(b, 0))}]`),
  completions: read(0, COMPLETIONS, rare.completionsText), cancelled: input(64, rare.cancelledText), handle: read(HANDLE, 0, b => rare.handleText(b)),
  rhandle: { before: fixed(8), after: HANDLE, text: (w, k, call) => call.ins[k] ? rare.handleText((call.outs[k] ?? call.ins[k])[0].data, call.ins[k][0].data) : pointer(w) },
  recursion: plain(n => names.flags(n, { AT_SYMLINK_NOFOLLOW: 0x100, AT_NO_AUTOMOUNT: 0x800, AT_EMPTY_PATH: 0x1000, AT_RECURSIVE: 0x8000 }, "0", "AT_")),
  setattr: { before: fixed(32), after: 0, text: (w, k, call) => call.ins[k] && Number(call.words[k + 1]) >= 32 ? rare.mountAttrText(call.ins[k][0].data) : pointer(w) },
  quotaid: plain((w, k, call) => ({ file: names.quotaFormat, id: unsigned })[rare.quotaForm(call)]?.(w) ?? null),
  quotaarg: { before: PATHNAME, after: 0, text: (w, k, call) => rare.quotaForm(call) === "none" ? null : call.ins[k] ? quoted(call.ins[k][0].text) : pointer(w) },
  rule: { before: RULE, after: 0, text: (w, k, call) => call.ins[k] && small(call.words[1]) === 1 ? rare.ruleText(call.ins[k][0].data) : pointer(w) },
  schedattr: read(POLICY, 0, structs.schedText), rschedattr: read(0, POLICY, structs.schedText),
  landlockattr: { before: SIZED, after: 0, text: (w, k, call) => call.ins[k] && Number(call.words[k + 1]) >= 8 ?
    `{handled_access_fs=${names.landlockAccess(u64At(call.ins[k][0].data, 0))}${Number(call.words[k + 1]) > 8 ? ", ..." : ""}}` : pointer(w) }, landlockflags: plain(n => names.flags(n, { LANDLOCK_CREATE_RULESET_VERSION: 1 }, "0", "LANDLOCK_CREATE_RULESET_")),
  landlockrule: plain(n => names.one(n, { 1: "PATH_BENEATH", 2: "NET_PORT" }, "LANDLOCK_RULE_")),
  faninit: plain(names.fanotifyInit), fanmark: plain(names.fanotifyMark), fanmask: plain(names.fanotifyMask), perfflags: plain(names.perfFlags), quotacmd: plain(names.quotaCommand),
  userfault: plain(n => names.flags(n, { UFFD_USER_MODE_ONLY: 1, O_NONBLOCK: 0o4000, O_CLOEXEC: 0o2000000 })), opentree: plain(names.openTree), movemount: plain(names.moveMount),
  fsopen: plain(n => names.flags(n, { FSOPEN_CLOEXEC: 1 }, "0", "FSOPEN_")), fsconfig: plain(names.fsconfigCommand),
  fsvalue: read(STRING, 0, (b, parts, call, k) => [1, 3, 4].includes(small(call.words[1])) ? quoted(parts[0].text) : pointer(call.words[k])),
  fsmount: plain(n => names.flags(n, { FSMOUNT_CLOEXEC: 1 }, "0", "FSMOUNT_")), mountattr: plain(names.mountAttributes),
  fspick: plain(n => names.flags(n, { FSPICK_CLOEXEC: 1, FSPICK_SYMLINK_NOFOLLOW: 2, FSPICK_NO_AUTOMOUNT: 4, FSPICK_EMPTY_PATH: 8 }, "0", "FSPICK_")), kcmp: plain(names.kcmpType),
  utimbuf: input(16, b => `{actime=${u64At(b, 0)} /* ${structs.dateText(u64At(b, 0))} */, modtime=${u64At(b, 8)} /* ${structs.dateText(u64At(b, 8))} */}`),
  tvtimes: input(32, b => `[${datedTime(b)}, ${datedTime(b.slice(16))}]`), incaphead: input(8, structs.capHeadText), incapdata: input(24, structs.capDataText),
  queue: input(32, rare.queueText), rqueue: output(32, rare.queueText), rpointer: output(8, b => `[${pointer(u64At(b, 0))}]`), rsize: output(8, b => `[${u64At(b, 0)}]`),
  mempolicy: plain(names.memoryPolicy), rmempolicy: output(8, b => `[${names.memoryPolicy(u32At(b, 0))}]`), nodes: read(NODES, 0, nodesText), rnodes: read(0, NODES, nodesText),
  mbindflags: plain(n => names.flags(n, { MPOL_MF_STRICT: 1, MPOL_MF_MOVE: 2, MPOL_MF_MOVE_ALL: 4 }, "0", "MPOL_")),
  mempolicyflags: plain(n => names.flags(n, { MPOL_F_NODE: 1, MPOL_F_ADDR: 2, MPOL_F_MEMS_ALLOWED: 4 }, "0", "MPOL_")),
  moduleflags: plain(n => names.flags(n, { MODULE_INIT_IGNORE_MODVERSIONS: 1, MODULE_INIT_IGNORE_VERMAGIC: 2, MODULE_INIT_COMPRESSED_FILE: 4 }, "0", "MODULE_INIT_")),
  pageflags: plain(n => BigInt(n) === 0n ? "MAP_FILE" : names.mmapFlags(n)), msgflg: plain(n => names.flags(n, { MSG_NOERROR: 0o10000, MSG_EXCEPT: 0o20000, MSG_COPY: 0o40000, IPC_NOWAIT: 0o4000 }, "0", "MSG_")),
  mqattr: { before: fixed(32), after: 0, text: (w, k, call) => BigInt(call.words[1]) & 0o100n ? call.ins[k] ? rare.queueText(call.ins[k][0].data) : pointer(w) : null },
};

const wakeOps = ["SET", "ADD", "OR", "ANDN", "XOR"], comparisons = ["EQ", "NE", "LT", "LE", "GT", "GE"];

function futexWakeOp(w, call) {
  const n = Number(BigInt.asUintN(32, BigInt(w)));
  if (futexName(call) !== "WAKE_OP") return String(n);
  const shift = n >>> 31 ? "FUTEX_OP_OPARG_SHIFT<<28|" : "";
  return `${shift}FUTEX_OP_${wakeOps[n >> 28 & 7] ?? n >> 28 & 7}<<28|${n >> 12 & 0xfff ? "0x" + (n >> 12 & 0xfff).toString(16) : "0"}<<12|` +
    `FUTEX_OP_CMP_${comparisons[n >> 24 & 15] ?? n >> 24 & 15}<<24|0x${(n & 0xfff).toString(16)}`;
}
