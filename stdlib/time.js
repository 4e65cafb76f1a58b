// gotap/time: durations and times of day as text.
//
//   import { duration, clock } from "gotap/time";
//   console.log(`${clock(e.time)} took ${duration(e.ns)}`);     // 12:04:31.250733 took 1.83 ms
//
// duration(ns)        three digits and a fitting unit: "950 ns", "1.83 ms", "12.3 s", "4 min 5 s"
// milliseconds(ns)    "1.830", for columns
// clock(time)         the time of day for c.time, e.time or now()
// since(time)         seconds since the script was loaded, "0.001830"
// rate(n, ns)         n per second, "12.5 k/s", where ns is the time that n took
//
// Host only; durations are numbers or BigInts of nanoseconds.

const units = ["ns", "us", "ms", "s"];
const loaded = now();
const offset = Date.now() * 1e6 - loaded; // from monotonic time to the time of day

export function duration(ns) {
  const n = Number(ns);
  if (n < 0) return "-" + duration(-n);
  if (n >= 120e9) return `${Math.floor(n / 60e9)} min ${Math.floor(n % 60e9 / 1e9)} s`;
  let k = 0, value = n;
  for (; value >= 999.5 && k < units.length - 1; k++) value /= 1000; // 999.5 would be rounded to 1000: use the next unit
  return `${k === 0 ? Math.round(value) : value.toFixed(value < 9.995 ? 2 : value < 99.95 ? 1 : 0)} ${units[k]}`;
}

export function milliseconds(ns) { return (Number(ns) / 1e6).toFixed(3); }

export function clock(time) {
  const micros = Math.floor((Number(time) + offset) / 1e3);
  const date = new Date(micros / 1e3);
  const two = n => String(n).padStart(2, "0");
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${String(micros % 1e6).padStart(6, "0")}`;
}

export function since(time) { return ((Number(time) - loaded) / 1e9).toFixed(6); }

export function rate(n, ns) {
  const each = Number(n) * 1e9 / Math.max(1, Number(ns));
  if (each >= 1e6) return (each / 1e6).toFixed(1) + " M/s";
  if (each >= 1e3) return (each / 1e3).toFixed(1) + " k/s";
  return each.toFixed(each < 10 ? 1 : 0) + "/s";
}
