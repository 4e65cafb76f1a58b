// writes: how much is written to each file descriptor, and in pieces of what size?
// topic: files and system calls
//
//   gotap run writes -- ls -lR /usr/share/doc
//   gotap run writes -T 5s -p PID
//
//   $ gotap run writes -- ls -l /usr/bin
//   @bytes by descriptor[1]: 81140
//   @bytes a write:
//   [2K, 4K)               1 |@@                                                  |
//   [4K, 8K)              19 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|

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
