function sum(p, n) {
  let s = 0;
  for (let i = 0; i < n; i++) s += u8(p + i);
  return s;
}
c => { m.set(sum(c.arg0, 8), str(c.arg1).startsWith("a") ? 1 : 2); };
