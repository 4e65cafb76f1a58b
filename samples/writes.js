// writes: how much is written to each file descriptor, and in pieces of what size?
//
//   gotap run writes.js -- ls -lR /usr/share/doc
//   gotap run writes.js -T 5s -p PID

const bytes = sum("bytes by descriptor", { keys: 1 });
const piece = hist("bytes a write");

probe("libc:write", {
  enter(c) { this.fd = c.arg0; },
  leave(c) {
    if (c.ret <= 0) return;
    bytes.at(this.fd).add(c.ret);
    piece.add(c.ret);
  },
});
