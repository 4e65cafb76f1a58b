// gotap/proc: processes and threads, from /proc of this machine.
//
//   import { command, threads } from "gotap/proc";
//   on("exec", e => console.log(e.pid, command(e.pid)));
//
// exe(pid) cwd(pid)        paths of the program and the working directory
// command(pid)             the command line, arguments joined with blanks; [NAME] if there is none
// args(pid)                its arguments, as a list; empty during an exec, and for a zombie
// environ(pid)             its environment as it was at the start, as an object
// parent(pid) user(pid)    numbers
// threads(pid)             thread numbers
// threadName(pid, tid)     the name of a thread
// cpuTime(pid, tid?)       processor time of the process or of one thread so far: nanoseconds, in steps of 10 ms
// container(pid)           the container that its control group names: 64 digits of Docker, podman and Kubernetes, a name of LXC and
//                          systemd-nspawn; empty without one
// containerOf(text)        the same of the text of a /proc/PID/cgroup
// rss(pid)                 bytes of memory in use
// maps(pid)                [{ start, end, access, offset, path }]
// status(pid)              the fields of /proc/PID/status, as text
//
// All return undefined if there is no such process, or if gotap may not read it. Host only: programs have c.pid, c.tid, c.ppid,
// c.uid, c.gid, c.comm, c.vtime and c.cgroup.

export const exe = pid => readLink(`/proc/${pid}/exe`);
export const cwd = pid => readLink(`/proc/${pid}/cwd`);

export function args(pid) {
  const text = readFile(`/proc/${pid}/cmdline`);
  if (text === undefined) return undefined;
  return text === "" ? [] : text.replace(/\0$/, "").split("\0");
}

// During an exec there is no command line: the kernel has removed the old memory and not yet filled in the new. The
// name of the thread always exists.
export function command(pid) {
  const all = args(pid);
  if (all === undefined || all.length > 0) return all?.join(" ");
  const name = readFile(`/proc/${pid}/comm`);
  return name === undefined ? undefined : `[${name.trimEnd()}]`;
}

export function environ(pid) {
  const text = readFile(`/proc/${pid}/environ`);
  if (text === undefined) return undefined;
  const all = {};
  for (const entry of text.split("\0")) {
    const at = entry.indexOf("=");
    if (at > 0) all[entry.slice(0, at)] = entry.slice(at + 1);
  }
  return all;
}

export function status(pid) {
  const text = readFile(`/proc/${pid}/status`);
  if (text === undefined) return undefined;
  const fields = {};
  for (const line of text.split("\n")) {
    const at = line.indexOf(":");
    if (at > 0) fields[line.slice(0, at)] = line.slice(at + 1).trim();
  }
  return fields;
}

const number = text => text === undefined ? undefined : Number(text.split(/\s/)[0]);

export const parent = pid => number(status(pid)?.PPid);
export const user = pid => number(status(pid)?.Uid);

export function rss(pid) {
  const kilobytes = number(status(pid)?.VmRSS);
  return kilobytes === undefined ? undefined : kilobytes * 1024;
}

export const threads = pid => readDir(`/proc/${pid}/task`)?.map(Number);
export const threadName = (pid, tid) => readFile(`/proc/${pid}/task/${tid}/comm`)?.trimEnd();

const tick = 1e7; // nanoseconds: towards user space Linux counts in hundredths of a second on every machine

export function cpuTime(pid, tid) {
  const text = readFile(tid === undefined ? `/proc/${pid}/stat` : `/proc/${pid}/task/${tid}/stat`);
  if (text === undefined) return undefined;
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" "); // the name before the bracket may itself have blanks and brackets
  return (Number(fields[11]) + Number(fields[12])) * tick;
}

export function maps(pid) {
  const text = readFile(`/proc/${pid}/maps`);
  return text?.split("\n").filter(line => line !== "").map(line => {
    const [range, access, offset, , , ...path] = line.split(/ +/);
    const [start, end] = range.split("-").map(n => BigInt("0x" + n));
    return { start, end, access, offset: Number("0x" + offset), path: path.join(" ") };
  });
}

// Of several containers, one in another, the innermost is meant, which is last. The group of each controller may differ; all of a
// container's have its name.
export const container = pid => containerOf(readFile(`/proc/${pid}/cgroup`));

export function containerOf(cgroups) {
  const last = pattern => [...cgroups.matchAll(pattern)].at(-1)?.[1];
  if (cgroups === undefined) return undefined;
  return last(/\b([0-9a-f]{64})\b/g) ?? last(/\/lxc(?:\.payload\.|\/)([^\/\n]+)/g) ?? last(/\/machine-([^\/\n]+)\.scope/g) ?? "";
}
