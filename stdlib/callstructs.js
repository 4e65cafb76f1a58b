// gotap/callstructs: structs of calls that few programs make, as text: bpf, io_uring, perf events, asynchronous reads, keys, landlock.
//
//   import { perfText } from "gotap/callstructs";
//   probe("syscall:perf_event_open", {
//     enter(c) { exit({ attr: bytes(c.arg0, 64) }); },
//     exit(e) { console.log(perfText(e.attr)); },             // {type=PERF_TYPE_HARDWARE, size=PERF_ATTR_SIZE_VER0, ...}
//   });
//
// uringText(b, after?)        the parameters of io_uring_setup; after is the struct when the call has returned
// perfText(b)                 the attributes of perf_event_open
// waitersText(b)              [{val=0x1, uaddr=0x1000, flags=FUTEX_32}], of futex_waitv
// vectorText(b)               [{iov_base=0x1000, iov_len=8}]
// cancelledText(b)            the part of a struct iocb that io_cancel has
// completionsText(b)          of io_getevents
// mountAttrText(b) ruleText(b) queueText(b)
// handleText(b, room?)        a struct file_handle; room is the one before the call
// bpfArgument(word, k, call) keyArgument(word, k, call) ringArgument(word, k, call) requestList(word, k, call)
//                             argument k of bpf, keyctl, io_uring_register and io_submit, as the functions of gotap/syscallargs
// quotaForm(call)             what a command of quotactl has behind the path: "file", "id", "format" or "none"
//
// The texts are those of strace, of 64-bit programs. Host only.

import { flags, one, pollEvents, mountAttributes, mountFlags, landlockAccess, rwFlags, keySerial, keyPermissions, keyDefault, bpfMapType, bpfProgramType, bpfAttachType } from "gotap/flags";
import { errno } from "gotap/errno";
import { quoted, hexQuoted, pointer, intsText, u32At, u64At, i64At } from "gotap/kernelstructs";

const hex = n => BigInt(n) === 0n ? "0" : "0x" + BigInt(n).toString(16);
const int = n => String(BigInt.asIntN(32, BigInt(n)));
const unsigned = n => String(BigInt.asUintN(64, BigInt(n)));
const small = n => Number(BigInt.asIntN(32, BigInt(n)));
const u16At = (b, at) => b[at] | b[at + 1] << 8;
const until = b => b.indexOf(0) < 0 ? b : b.slice(0, b.indexOf(0));

const mapFlags = n => flags(n, { BPF_F_NO_PREALLOC: 1, BPF_F_NO_COMMON_LRU: 2, BPF_F_NUMA_NODE: 4, BPF_F_RDONLY: 8, BPF_F_WRONLY: 16, BPF_F_STACK_BUILD_ID: 32, BPF_F_ZERO_SEED: 64,
  BPF_F_RDONLY_PROG: 128, BPF_F_WRONLY_PROG: 256, BPF_F_CLONE: 512, BPF_F_MMAPABLE: 1024, BPF_F_PRESERVE_ELEMS: 2048, BPF_F_INNER_MAP: 4096 }, "0", "BPF_F_");
const elementFlags = { BPF_NOEXIST: 1, BPF_EXIST: 2, BPF_F_LOCK: 4 };

// How members of the structs below are read: bytes, and the text of them. Others are unsigned numbers of 32 bits.
const forms = {
  "": [4, (b, at) => u32At(b, at)], fd: [4, (b, at) => u32At(b, at) | 0], hex: [4, (b, at) => hex(u32At(b, at))], long: [8, (b, at) => u64At(b, at)], hexlong: [8, (b, at) => hex(u64At(b, at))],
  p: [8, (b, at) => pointer(u64At(b, at))], name: [16, (b, at) => quoted(until(b.slice(at, at + 16)))], text: [8, (b, at, texts) => texts?.[at] ?? pointer(u64At(b, at))],
  next: [4, (b, at, texts, after) => after && u32At(after, at) !== u32At(b, at) ? `${u32At(b, at)} => ${u32At(after, at)}` : u32At(b, at)],
  version: [4, (b, at) => `KERNEL_VERSION(${b[at + 2] | b[at + 3] << 8}, ${b[at + 1]}, ${b[at]})`],
  map: [4, (b, at) => bpfMapType(u32At(b, at))], mapflags: [4, (b, at) => mapFlags(u32At(b, at))], fileflags: [4, (b, at) => flags(u32At(b, at), { BPF_F_RDONLY: 8, BPF_F_WRONLY: 16 }, "0", "BPF_F_")],
  numa: [4, (b, at) => u32At(b, 16) & 4 ? u32At(b, at) : undefined], program: [4, (b, at) => bpfProgramType(u32At(b, at))],
  progflags: [4, (b, at) => flags(u32At(b, at), { BPF_F_STRICT_ALIGNMENT: 1, BPF_F_ANY_ALIGNMENT: 2, BPF_F_TEST_RND_HI32: 4, BPF_F_TEST_STATE_FREQ: 8, BPF_F_SLEEPABLE: 16 }, "0", "BPF_F_")],
  attach: [4, (b, at) => bpfAttachType(u32At(b, at))], elem: [8, (b, at) => flags(u64At(b, at), elementFlags, "BPF_ANY", "BPF_")],
  lock: [8, (b, at) => flags(u64At(b, at), { BPF_F_LOCK: 4 }, "BPF_ANY", "BPF_")],
  attachflags: [4, (b, at) => flags(u32At(b, at), { BPF_F_ALLOW_OVERRIDE: 1, BPF_F_ALLOW_MULTI: 2, BPF_F_REPLACE: 4 }, "0", "BPF_F_")],
  replace: [4, (b, at) => flags(u32At(b, at), { BPF_F_REPLACE: 4 }, "0", "BPF_F_")], replaced: [4, (b, at) => u32At(b, 8) & 4 ? u32At(b, at) | 0 : undefined],
  effective: [4, (b, at) => flags(u32At(b, at), { BPF_F_QUERY_EFFECTIVE: 1 }, "0", "BPF_F_QUERY_")], test: [4, (b, at) => flags(u32At(b, at), { BPF_F_TEST_RUN_ON_CPU: 1, BPF_F_TEST_XDP_LIVE_FRAMES: 2 }, "0", "BPF_F_")],
  fdtype: [4, (b, at) => one(u32At(b, at), ["RAW_TRACEPOINT", "TRACEPOINT", "KPROBE", "KRETPROBE", "UPROBE", "URETPROBE"], "BPF_FD_TYPE_")], propagation: [8, (b, at) => mountFlags(u64At(b, at))],
  mountattr: [8, (b, at) => mountAttributes(u64At(b, at))],
};

// layoutText writes members NAME:FORM in their order, aligned as in C. What follows a bar is written only if the struct reaches that far,
// "outer={" begins a struct inside, ".N" leaves N bytes out.
function layoutText(fields, b, texts, after) {
  const out = [];
  let at = 0, outer = "";
  for (const field of fields.split(" ")) {
    if (field === "|") {
      if (b.length <= at) break;
    } else if (field.endsWith("={")) outer = field;
    else if (field[0] === ".") at += Number(field.slice(1));
    else {
      const [name, form = ""] = field.split(":"), [size, text] = forms[form];
      at = form === "name" ? at : Math.ceil(at / size) * size;
      const shown = text(b, at, texts, after);
      if (shown !== undefined) out.push(`${name}=${shown}`);
      at += size;
    }
  }
  return outer ? `{${outer}${out.join(", ")}}}` : `{${out.join(", ")}}`;
}

const batch = "keys:p values:p count map_fd:fd elem_flags:lock flags:long", next = "start_id next_id:next | open_flags:fileflags";
const bpf = {
  0: "map_type:map key_size value_size max_entries map_flags:mapflags | inner_map_fd:fd numa_node:numa | map_name:name | map_ifindex | btf_fd:fd btf_key_type_id btf_value_type_id | " +
    "btf_vmlinux_value_type_id | map_extra:hexlong",
  1: "map_fd:fd key:p value:p flags:lock", 2: "map_fd:fd key:p value:p flags:elem", 3: "map_fd:fd key:p", 4: "map_fd:fd key:p next_key:p",
  5: "prog_type:program insn_cnt insns:p license:text log_level log_size log_buf:text kern_version:version prog_flags:progflags | prog_name:name | prog_ifindex | " +
    "expected_attach_type:attach | prog_btf_fd:fd func_info_rec_size func_info:p func_info_cnt line_info_rec_size line_info:p line_info_cnt | attach_btf_id | attach_prog_fd:fd | fd_array:p",
  6: "pathname:text bpf_fd:fd file_flags:fileflags", 7: "pathname:text bpf_fd:fd file_flags:fileflags",
  8: "target_fd:fd attach_bpf_fd:fd attach_type:attach attach_flags:attachflags | replace_bpf_fd:fd", 9: "target_fd:fd .4 attach_type:attach",
  10: "test={ prog_fd:fd retval data_size_in data_size_out data_in:p data_out:p repeat duration | ctx_size_in ctx_size_out ctx_in:p ctx_out:p | flags:test cpu batch_size",
  11: next, 12: next, 13: "prog_id next_id:next | open_flags:fileflags", 14: "map_id next_id:next | open_flags:fileflags", 15: "info={ bpf_fd:fd info_len:next info:p",
  16: "query={ target_fd:fd attach_type:attach query_flags:effective attach_flags:attachflags prog_ids:p prog_cnt", 17: "raw_tracepoint={ name:text prog_fd:fd",
  18: "btf:text btf_log_buf:p btf_size btf_log_size btf_log_level", 19: "btf_id", 20: "task_fd_query={ pid fd:fd flags buf_len buf:text prog_id fd_type:fdtype probe_offset:long probe_addr:hexlong",
  21: "map_fd:fd key:p value:p flags:lock", 22: "map_fd:fd", 23: next, 24: `batch={ in_batch:p out_batch:p ${batch}`, 25: `batch={ in_batch:p out_batch:p ${batch}`, 26: `batch={ .16 ${batch}`,
  27: "batch={ .16 keys:p .8 count map_fd:fd elem_flags:lock flags:long", 28: "link_create={ prog_fd:fd target_fd:fd attach_type:attach flags",
  29: "link_update={ link_fd:fd new_prog_fd:fd flags:replace old_prog_fd:replaced", 30: "link_id", 31: next,
};

const bpfText = (command, b, texts, after) => bpf[command] === undefined ? undefined : layoutText(bpf[command], b, texts, after);

const bits = (prefix, names) => Object.fromEntries(names.map((name, k) => [prefix + name, 2 ** k]));
const setup = bits("IORING_SETUP_", ["IOPOLL", "SQPOLL", "SQ_AFF", "CQSIZE", "CLAMP", "ATTACH_WQ", "R_DISABLED", "SUBMIT_ALL", "COOP_TASKRUN", "TASKRUN_FLAG", "SQE128", "CQE32"]);
const features = bits("IORING_FEAT_", ["SINGLE_MMAP", "NODROP", "SUBMIT_STABLE", "RW_CUR_POS", "CUR_PERSONALITY", "FAST_POLL", "POLL_32BITS", "SQPOLL_NONFIXED", "EXT_ARG", "NATIVE_WORKERS",
  "RSRC_TAGS", "CQE_SKIP", "LINKED_FILE"]);
const submission = "head tail ring_mask ring_entries flags dropped array", completion = "head tail ring_mask ring_entries overflow cqes flags";

export function uringText(b, after) {
  const members = [`flags=${flags(u32At(b, 8), setup, "0", "IORING_SETUP_")}`, `sq_thread_cpu=${hex(u32At(b, 12))}`, `sq_thread_idle=${u32At(b, 16)}`];
  if (u32At(b, 8) & 32) members.push(`wq_fd=${u32At(b, 24) | 0}`);
  if (after) {
    members.push(`sq_entries=${u32At(after, 0)}`, `cq_entries=${u32At(after, 4)}`, `features=${flags(u32At(after, 20), features, "0", "IORING_FEAT_")}`,
      `sq_off=${layoutText(submission, after.slice(40))}`, `cq_off=${layoutText(completion, after.slice(80))}`);
  }
  return `{${members.join(", ")}}`;
}

const updateText = (b, files) => `{offset=${u32At(b, 0)}, fds=${files === undefined ? pointer(u64At(b, 8)) : intsText(files)}}`;

const operations = ["NOP", "READV", "WRITEV", "FSYNC", "READ_FIXED", "WRITE_FIXED", "POLL_ADD", "POLL_REMOVE", "SYNC_FILE_RANGE", "SENDMSG", "RECVMSG", "TIMEOUT", "TIMEOUT_REMOVE", "ACCEPT",
  "ASYNC_CANCEL", "LINK_TIMEOUT", "CONNECT", "FALLOCATE", "OPENAT", "CLOSE", "FILES_UPDATE", "STATX", "READ", "WRITE", "FADVISE", "MADVISE", "SEND", "RECV", "OPENAT2", "EPOLL_CTL", "SPLICE",
  "PROVIDE_BUFFERS", "REMOVE_BUFFERS", "TEE", "SHUTDOWN", "RENAMEAT", "UNLINKAT", "MKDIRAT", "SYMLINKAT", "LINKAT", "MSG_RING", "FSETXATTR", "SETXATTR", "FGETXATTR", "GETXATTR", "SOCKET",
  "URING_CMD", "SEND_ZC", "SENDMSG_ZC"];
const operation = n => operations[n] === undefined ? `${n} /* IORING_OP_??? */` : `IORING_OP_${operations[n]}`;

function probedText(b) {
  const texts = [];
  for (let at = 16; at + 8 <= b.length; at += 8) texts.push(`{op=${operation(b[at])}, flags=${flags(u16At(b, at + 2), { IO_URING_OP_SUPPORTED: 1 })}}`);
  return `{last_op=${operation(b[0])}, ops_len=${b[1]}, ops=[${texts.join(", ")}]}`;
}

const perfTypes = ["HARDWARE", "SOFTWARE", "TRACEPOINT", "HW_CACHE", "RAW", "BREAKPOINT"];
const perfSizes = { 64: "VER0", 72: "VER1", 80: "VER2", 96: "VER3", 104: "VER4", 112: "VER5", 120: "VER6", 128: "VER7" };
const hardware = ["CPU_CYCLES", "INSTRUCTIONS", "CACHE_REFERENCES", "CACHE_MISSES", "BRANCH_INSTRUCTIONS", "BRANCH_MISSES", "BUS_CYCLES", "STALLED_CYCLES_FRONTEND", "STALLED_CYCLES_BACKEND",
  "REF_CPU_CYCLES"];
const software = ["CPU_CLOCK", "TASK_CLOCK", "PAGE_FAULTS", "CONTEXT_SWITCHES", "CPU_MIGRATIONS", "PAGE_FAULTS_MIN", "PAGE_FAULTS_MAJ", "ALIGNMENT_FAULTS", "EMULATION_FAULTS", "DUMMY",
  "BPF_OUTPUT", "CGROUP_SWITCHES"];
const caches = ["L1D", "L1I", "LL", "DTLB", "ITLB", "BPU", "NODE"];
const sampled = bits("PERF_SAMPLE_", ["IP", "TID", "TIME", "ADDR", "READ", "CALLCHAIN", "ID", "CPU", "PERIOD", "STREAM_ID", "RAW", "BRANCH_STACK", "REGS_USER", "STACK_USER", "WEIGHT", "DATA_SRC",
  "IDENTIFIER", "TRANSACTION", "REGS_INTR", "PHYS_ADDR", "AUX", "CGROUP", "DATA_PAGE_SIZE", "CODE_PAGE_SIZE", "WEIGHT_STRUCT"]);
const formats = { PERF_FORMAT_TOTAL_TIME_ENABLED: 1, PERF_FORMAT_TOTAL_TIME_RUNNING: 2, PERF_FORMAT_ID: 4, PERF_FORMAT_GROUP: 8, PERF_FORMAT_LOST: 16 };
const perfBits = ["disabled", "inherit", "pinned", "exclusive", "exclude_user", "exclude_kernel", "exclude_hv", "exclude_idle", "mmap", "comm", "freq", "inherit_stat", "enable_on_exec", "task",
  "watermark", "precise_ip", undefined, "mmap_data", "sample_id_all", "exclude_host", "exclude_guest", "exclude_callchain_kernel", "exclude_callchain_user", "mmap2", "comm_exec", "use_clockid",
  "context_switch", "write_backward", "namespaces", "ksymbol", "bpf_event", "aux_output", "cgroup", "text_poke", "build_id", "inherit_thread", "remove_on_exec", "sigtrap"];
const skid = ["arbitrary skid", "constant skid", "requested to have 0 skid", "must have 0 skid"];

function perfConfig(b) {
  const config = u64At(b, 8), n = Number(config);
  switch (perfTypes[u32At(b, 0)]) {
    case "HARDWARE": return one(n, hardware, "PERF_COUNT_HW_");
    case "SOFTWARE": return one(n, software, "PERF_COUNT_SW_");
    case "TRACEPOINT": case "BREAKPOINT": return config;
    case "HW_CACHE": {
      const rest = config >> 24n === 0n ? "" : `${hex(config >> 24n << 24n)}|`;
      return `${rest}${one(n >> 16 & 255, ["ACCESS", "MISS"], "PERF_COUNT_HW_CACHE_RESULT_")}<<16|${one(n >> 8 & 255, ["READ", "WRITE", "PREFETCH"], "PERF_COUNT_HW_CACHE_OP_")}<<8|` +
        one(n & 255, caches, "PERF_COUNT_HW_CACHE_");
    }
  }
  return hex(config);
}

export function perfText(b) {
  const size = u32At(b, 4), set = u64At(b, 40), members = [`type=${one(u32At(b, 0), perfTypes, "PERF_TYPE_")}`];
  members.push(`size=${perfSizes[size] === undefined ? `${hex(size)} /* PERF_ATTR_SIZE_??? */` : `PERF_ATTR_SIZE_${perfSizes[size]}`}`, `config=${perfConfig(b)}`);
  members.push(`${set & 1024n ? "sample_freq" : "sample_period"}=${u64At(b, 16)}`, `sample_type=${flags(u64At(b, 24), sampled, "0", "PERF_SAMPLE_")}`,
    `read_format=${flags(u64At(b, 32), formats, "0", "PERF_FORMAT_")}`);
  perfBits.forEach((name, k) => {
    if (name === "precise_ip") members.push(`precise_ip=${set >> 15n & 3n} /* ${skid[Number(set >> 15n & 3n)]} */`);
    else if (name !== undefined && set >> BigInt(k) & 1n) members.push(`${name}=1`);
  });
  return `{${members.join(", ")}, ...}`;
}

// listOf writes each struct of an array.
function listOf(b, size, text) {
  const texts = [];
  for (let at = 0; at + size <= b.length; at += size) texts.push(text(b.slice(at, at + size)));
  return `[${texts.join(", ")}]`;
}

const futexSizes = ["FUTEX_8", "FUTEX_16", "FUTEX_32", "FUTEX_64"];
export const waitersText = b => listOf(b, 24, w => `{val=${hex(u64At(w, 0))}, uaddr=${pointer(u64At(w, 8))}, flags=${
  [futexSizes[u32At(w, 16) & 3], ...(u32At(w, 16) >>> 2 ? [flags(u32At(w, 16) & ~3, { FUTEX_PRIVATE_FLAG: 128 })] : [])].join("|")}}`);
export const vectorText = b => listOf(b, 16, v => `{iov_base=${pointer(u64At(v, 0))}, iov_len=${u64At(v, 8)}}`);
export const completionsText = b => listOf(b, 32, e => `{data=${hex(u64At(e, 0))}, obj=${pointer(u64At(e, 8))}, res=${i64At(e, 16)}, res2=${i64At(e, 24)}}`);

const requests = { 0: "PREAD", 1: "PWRITE", 2: "FSYNC", 3: "FDSYNC", 4: "PREADX", 5: "POLL", 6: "NOOP", 7: "PREADV", 8: "PWRITEV" };

function requestHead(b) {
  const members = [`aio_data=${hex(u64At(b, 0))}`];
  if (u32At(b, 8)) members.push(`aio_key=${u32At(b, 8)}`);
  if (u32At(b, 12)) members.push(`aio_rw_flags=${rwFlags(u32At(b, 12))}`);
  members.push(`aio_lio_opcode=${one(u16At(b, 16), requests, "IOCB_CMD_")}`);
  if (u16At(b, 18)) members.push(`aio_reqprio=${u16At(b, 18) << 16 >> 16}`);
  return [...members, `aio_fildes=${u32At(b, 20) | 0}`];
}

export const cancelledText = b => `{${requestHead(b).join(", ")}}`;
function requestText(b, data) {
  const members = requestHead(b), kind = requests[u16At(b, 16)];
  if (kind === "POLL") members.push(`aio_buf=${pollEvents(Number(u64At(b, 24)))}`);
  else if (/^P(READ|WRITE)/.test(kind)) {
    members.push(`aio_buf=${data ?? pointer(u64At(b, 24))}`);
    if (!/V$/.test(kind)) members.push(`aio_nbytes=${u64At(b, 32)}`);
    members.push(`aio_offset=${i64At(b, 40)}`);
    if (u32At(b, 56)) members.push(`aio_flags=${flags(u32At(b, 56), { IOCB_FLAG_RESFD: 1, IOCB_FLAG_IOPRIO: 2 }, "0", "IOCB_FLAG_")}`);
    if (u32At(b, 56) & 1) members.push(`aio_resfd=${u32At(b, 60) | 0}`);
  }
  return `{${members.join(", ")}}`;
}

export const mountAttrText = b => layoutText("attr_set:mountattr attr_clr:mountattr propagation:propagation userns_fd:long", b);
export const ruleText = b => `{allowed_access=${landlockAccess(u64At(b, 0))}, parent_fd=${u32At(b, 8) | 0}}`;
export const queueText = b => layoutText("mq_flags:long mq_maxmsg:long mq_msgsize:long mq_curmsgs:long", b);

// handleText is a struct file_handle. A call that fails leaves only how many bytes there is room for, and how many there were to be.
export function handleText(b, room = b) {
  const bytes = u32At(room, 0) === u32At(b, 0) ? u32At(b, 0) : `${u32At(room, 0)} => ${u32At(b, 0)}`;
  return b.length <= 8 ? `{handle_bytes=${bytes}}` : `{handle_bytes=${bytes}, handle_type=${u32At(b, 4) | 0}, f_handle=${hexQuoted(b.slice(8))}}`;
}

// What the operations of keyctl take: a key, an int, a pointer or the text there, a length, bits, rights, a default keyring, an error, or numbers of keys.
// The arguments of others are shown as four numbers.
const keyctlTakes = { 0: "kd", 1: "p", 2: "kpu", 3: "k", 4: "kdd", 5: "kr", 6: "kpu", 7: "k", 8: "kk", 9: "kk", 10: "kppk", 11: "kpu", 12: "kpuk", 13: "kuk", 14: "D", 15: "ku", 16: "k",
  17: "kpu", 18: "", 19: "kuek", 21: "k", 22: "dk", 23: "Hpup", 24: "kupp" };

export function keyArgument(word, k, call) {
  const kinds = keyctlTakes[small(call.words[0])];
  if (kinds === undefined) return hex(BigInt.asUintN(64, BigInt(word)));
  const kind = { k: keySerial, d: int, p: keyText, u: unsigned, x: hex, r: keyPermissions, D: keyDefault, e: n => errno(small(n)), H: dhKeys }[kinds[k - 1]];
  return kind === undefined ? null : kind(word, k, call);
}

const dhKeys = (word, k, call) => call.ins[k] ? layoutText("private:fd prime:fd base:fd", call.ins[k][0].data) : pointer(word);

function keyText(word, k, call) {
  const part = (call.outs[k] ?? call.ins[k])?.[0];
  return part === undefined ? pointer(word) : part.text === undefined ? quoted(part.data, Number(part.whole)) : quoted(part.text);
}

// What a command of quotactl has behind the path.
export function quotaForm(call) {
  const command = Number(BigInt.asUintN(32, BigInt(call.words[call.name === "quotactl" ? 0 : 1]))) >>> 8;
  return { 0x800001: "none", 0x800002: "file", 0x800003: "none", 0x800004: "format" }[command] ?? "id";
}

export function bpfArgument(word, k, call) {
  const parts = call.ins[k], command = small(call.words[0]);
  if (parts === undefined) return pointer(word);
  const texts = {};
  for (const part of (call.outs[k] ?? parts)) if (part.i > 0) texts[part.i - 1] = part.text === undefined ? quoted(part.data, Number(part.whole)) : quoted(part.text, undefined, call.size);
  return bpfText(command, parts[0].data, texts, call.outs[k]?.[0].data) ?? pointer(word);
}

export function ringArgument(word, k, call) {
  const set = call.ins[k], operation = small(call.words[1]);
  if (call.outs[k]) return probedText(call.outs[k][0].data);
  if (set === undefined) return pointer(word);
  return operation === 0 ? vectorText(set[0].data) : operation === 6 ? updateText(set[0].data, set[1]?.data) : intsText(set[0].data);
}

export function requestList(word, k, call) {
  const parts = call.ins[k];
  if (parts === undefined) return Number(call.words[1]) === 0 && BigInt(word) !== 0n ? "[]" : pointer(word);
  const texts = parts.filter(part => part.i % 2 === 0).map(part => {
    const data = parts.find(other => other.i === part.i + 1);
    return requestText(part.data, data && ([7, 8].includes(part.data[16]) ? vectorText(data.data) : quoted(data.data, Number(data.whole))));
  });
  return `[${texts.join(", ")}]`;
}
