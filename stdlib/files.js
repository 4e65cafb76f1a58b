// gotap/files: file descriptors and paths, from /proc of this machine.
//
//   import { fdPath } from "gotap/files";
//   probe("libc:write", { enter(c) { exit({ fd: c.arg0 }); }, exit(e) { console.log(fdPath(e.pid, e.fd)); } });
//
// fdPath(pid, fd)      what the descriptor refers to: a path, "socket:[5]", "pipe:[6]"; or "fd 7" if it is closed by now
// descriptors(pid)     { 0: "/dev/pts/1", … }
// fdFlags(pid, fd)     the flags it was opened with, for gotap/syscalls' openFlags
// fdPosition(pid, fd)  the offset of the next read or write
// baseName(path) dirName(path)
// atPath(pid, dirfd, path)   the path that openat(dirfd, path) means, absolute where possible
//
// A callback runs after the hit: if the descriptor was closed or reused meanwhile, it has another path, or none. Where that
// matters, send the record with exit.hold(…), so that the thread waits. Host only.

export function fdPath(pid, fd) {
  return readLink(`/proc/${pid}/fd/${fd}`) ?? `fd ${fd}`;
}

export function descriptors(pid) {
  const names = readDir(`/proc/${pid}/fd`);
  if (names === undefined) return undefined;
  const all = {};
  for (const fd of names) {
    const path = readLink(`/proc/${pid}/fd/${fd}`);
    if (path !== undefined) all[fd] = path;
  }
  return all;
}

function info(pid, fd, field, base) {
  const found = new RegExp(`^${field}:\\s*(\\d+)`, "m").exec(readFile(`/proc/${pid}/fdinfo/${fd}`) ?? "");
  return found ? parseInt(found[1], base) : undefined;
}

export const fdFlags = (pid, fd) => info(pid, fd, "flags", 8);
export const fdPosition = (pid, fd) => info(pid, fd, "pos", 10);

export const baseName = path => path.slice(path.lastIndexOf("/") + 1);

export function dirName(path) {
  const at = path.lastIndexOf("/");
  return at < 0 ? "." : at === 0 ? "/" : path.slice(0, at);
}

const atWorkingDirectory = -100; // AT_FDCWD

export function atPath(pid, dirfd, path) {
  if (path.startsWith("/")) return path;
  const low = Number(BigInt.asIntN(32, BigInt(dirfd)));
  const dir = low === atWorkingDirectory ? readLink(`/proc/${pid}/cwd`) : readLink(`/proc/${pid}/fd/${low}`);
  return dir === undefined ? path : dir.replace(/\/$/, "") + "/" + path;
}
