// gotap/signals: names of signals.
//
//   import { signalName } from "gotap/signals";
//   on("signal", e => console.log(signalName(e.signal)));      // "SIGSEGV"
//
// signalName(n)       the name, "SIGRTMIN+3" for real-time signals, or the number as text if there is no name
// signalNumber(name)  the number of "SIGINT" or "INT", or undefined
//
// The numbers are those of x86 and ARM. Host only.

const names = ["", "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE", "ALRM", "TERM",
  "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS"];
const firstRealTime = 34; // the first that programs can use: the C library keeps two for itself
const lastRealTime = 64;

export function signalName(n) {
  const number = Number(n);
  if (names[number]) return "SIG" + names[number];
  if (number >= firstRealTime && number <= lastRealTime) return number === firstRealTime ? "SIGRTMIN" : `SIGRTMIN+${number - firstRealTime}`;
  return String(n);
}

export function signalNumber(name) {
  const at = names.indexOf(String(name).toUpperCase().replace(/^SIG/, ""));
  return at > 0 ? at : undefined;
}
