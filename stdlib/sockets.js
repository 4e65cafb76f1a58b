// gotap/sockets: addresses of sockets.
//
//   import { sockaddr } from "gotap/sockets";
//   probe("libc:connect", { enter(c) { exit({ to: bytes(c.arg1, min(c.arg2, 128)) }); }, exit(e) { console.log(sockaddr(e.to)); } });
//
// In programs, inlined:
//   familyOf(p) portOf(p)     of the sockaddr at p: the number of its family, the port of an IPv4 or IPv6 address
//
// On the host:
//   sockaddr(bytes)           "127.0.0.1:80", "[::1]:80", "unix:/run/x", "unix:@abstract", "netlink:5", or "AF_X25"
//   decode(bytes)             { family, address, port, path }, without the fields that the family does not have
//   ipv4(bytes) ipv6(bytes)   addresses as text, of 4 and 16 bytes
//   socketOf(pid, fd)         { kind, local, remote, state } of a TCP or UDP socket of this machine, undefined of others
//   lookupError(n)            the name of a result of getaddrinfo: "EAI_NONAME"

import { family } from "gotap/flags";

export function familyOf(p) { return u16(p); }
export function portOf(p) { return (u8(p + 2) << 8) | u8(p + 3); }

export function ipv4(b) { return Array.from(b.slice(0, 4)).join("."); }

export function ipv6(b) {
  const words = Array.from({ length: 8 }, (_, k) => b[2 * k] << 8 | b[2 * k + 1]);
  if (words.slice(0, 5).every(w => w === 0) && words[5] === 0xffff) return "::ffff:" + ipv4(b.slice(12));
  const gap = longestZeros(words);
  const hex = part => part.map(w => w.toString(16)).join(":");
  return gap.length < 2 ? hex(words) : `${hex(words.slice(0, gap.at))}::${hex(words.slice(gap.at + gap.length))}`;
}

// longestZeros finds the first of the longest runs of zero words, which the text form abbreviates as "::".
function longestZeros(words) {
  let best = { at: 0, length: 0 };
  for (let at = 0; at < words.length; at++) {
    let length = 0;
    while (at + length < words.length && words[at + length] === 0) length++;
    if (length > best.length) best = { at, length };
    at += length;
  }
  return best;
}

export function decode(b) {
  if (b.length < 2) return { family: "AF_UNSPEC" };
  const name = family(b[0] | b[1] << 8);
  if (name === "AF_INET" && b.length >= 8) return { family: name, address: ipv4(b.slice(4)), port: b[2] << 8 | b[3] };
  if (name === "AF_INET6" && b.length >= 24) return { family: name, address: ipv6(b.slice(8)), port: b[2] << 8 | b[3] };
  if (name === "AF_UNIX") return { family: name, path: unixPath(b.slice(2)) };
  if (name === "AF_NETLINK" && b.length >= 8) return { family: name, port: (b[4] | b[5] << 8 | b[6] << 16) + b[7] * 2 ** 24 };
  return { family: name };
}

// unixPath returns "" for a socket without a name. An abstract name starts with NUL and may contain further NULs.
function unixPath(b) {
  if (b.length === 0) return "";
  const text = part => String.fromCharCode(...part);
  if (b[0] === 0) return "@" + text(b.slice(1)).replace(/\0+$/, "");
  const zero = b.indexOf(0);
  return text(zero < 0 ? b : b.slice(0, zero));
}

export function sockaddr(b) {
  const a = decode(b);
  if (a.family === "AF_INET6") return `[${a.address}]:${a.port}`;
  if (a.address !== undefined) return `${a.address}:${a.port}`;
  if (a.path !== undefined) return `unix:${a.path}`;
  return a.port === undefined ? a.family : `netlink:${a.port}`;
}

const states = ["", "ESTABLISHED", "SYN_SENT", "SYN_RECV", "FIN_WAIT1", "FIN_WAIT2", "TIME_WAIT", "CLOSE", "CLOSE_WAIT", "LAST_ACK", "LISTEN", "CLOSING"];

export function socketOf(pid, fd) {
  const inode = /^socket:\[(\d+)\]$/.exec(readLink(`/proc/${pid}/fd/${fd}`) ?? "")?.[1];
  if (inode === undefined) return undefined;
  for (const kind of ["tcp", "tcp6", "udp", "udp6"]) {
    for (const line of (readFile(`/proc/${pid}/net/${kind}`) ?? "").split("\n").slice(1)) {
      const f = line.trim().split(/\s+/);
      if (f[9] === inode) return { kind, local: endpoint(f[1]), remote: endpoint(f[2]), state: states[parseInt(f[3], 16)] };
    }
  }
  return undefined;
}

// endpoint parses an address of /proc/net such as "0100007F:0050", whose words are little-endian.
function endpoint(text) {
  const [address, port] = text.split(":");
  const b = Uint8Array.from(address.match(/../g), h => parseInt(h, 16));
  for (let k = 0; k < b.length; k += 4) b.subarray(k, k + 4).reverse();
  const number = parseInt(port, 16);
  return b.length === 4 ? `${ipv4(b)}:${number}` : `[${ipv6(b)}]:${number}`;
}

const lookups = { 0: "0", 1: "EAI_BADFLAGS", 2: "EAI_NONAME", 3: "EAI_AGAIN", 4: "EAI_FAIL", 5: "EAI_NODATA", 6: "EAI_FAMILY", 7: "EAI_SOCKTYPE",
  8: "EAI_SERVICE", 9: "EAI_ADDRFAMILY", 10: "EAI_MEMORY", 11: "EAI_SYSTEM", 12: "EAI_OVERFLOW" };

export function lookupError(n) { return lookups[Math.abs(Number(n))] ?? String(n); }
