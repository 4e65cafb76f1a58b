// gotap/errno: names of error numbers.
//
//   import { errno } from "gotap/errno";
//   console.log(errno(-2));          // "ENOENT"
//
// errno(n) takes the number with either sign, as libc's errno and as system calls return it, and gives its name, or the
// number as text when it has none. Host only: in a program, put the number into the record and name it in the callback.

const names = ["", "EPERM", "ENOENT", "ESRCH", "EINTR", "EIO", "ENXIO", "E2BIG", "ENOEXEC", "EBADF", "ECHILD", "EAGAIN",
  "ENOMEM", "EACCES", "EFAULT", "ENOTBLK", "EBUSY", "EEXIST", "EXDEV", "ENODEV", "ENOTDIR", "EISDIR", "EINVAL", "ENFILE",
  "EMFILE", "ENOTTY", "ETXTBSY", "EFBIG", "ENOSPC", "ESPIPE", "EROFS", "EMLINK", "EPIPE", "EDOM", "ERANGE", "EDEADLK",
  "ENAMETOOLONG", "ENOLCK", "ENOSYS", "ENOTEMPTY", "ELOOP"];
const more = { 61: "ENODATA", 62: "ETIME", 71: "EPROTO", 74: "EBADMSG", 75: "EOVERFLOW", 84: "EILSEQ", 88: "ENOTSOCK",
  90: "EMSGSIZE", 92: "ENOPROTOOPT", 93: "EPROTONOSUPPORT", 95: "EOPNOTSUPP", 97: "EAFNOSUPPORT", 98: "EADDRINUSE",
  99: "EADDRNOTAVAIL", 100: "ENETDOWN", 101: "ENETUNREACH", 103: "ECONNABORTED", 104: "ECONNRESET", 105: "ENOBUFS",
  106: "EISCONN", 107: "ENOTCONN", 110: "ETIMEDOUT", 111: "ECONNREFUSED", 113: "EHOSTUNREACH", 114: "EALREADY",
  115: "EINPROGRESS", 116: "ESTALE", 122: "EDQUOT", 125: "ECANCELED", 130: "EOWNERDEAD" };

export function errno(n) {
  const number = Math.abs(Number(n));
  return names[number] || more[number] || String(number);
}
