// memleak: which blocks are not freed, and where were they allocated?
// topic: memory
//
//   gotap run memleak -- ./prog
//   gotap run memleak --arg every=16 --arg older=10 -T 60s -p PID
//
// In a running process only blocks allocated during the run are known. older=N leaves out blocks younger than N seconds, which
// may still be freed. every=N follows one block in N and multiplies its bytes by N.
//
//   $ gotap run memleak --arg top=2 -- ./shop
//   5 blocks with 8.4 KiB were not freed; 7 allocated, 2 freed
//   1 blocks, 4.0 KiB, asked for by
//       0x7f24a455e8cc _IO_file_doallocate+0x8c (libc.so.6) at filedoalloc.c:101
//       0x7f24a456c0a0 _IO_doallocbuf+0x0 (libc.so.6) at genops.c:347
//       0x7f24a456c0a0 _IO_doallocbuf+0x50 (libc.so.6) at genops.c:342
//   …

import { allocations } from "gotap/memory";
import { size, counted } from "gotap/table";

const module = option("lib", "", "where malloc is; by default it is searched in the C library, jemalloc, tcmalloc, mimalloc and the program");
const least = option("least", 0, "bytes: smaller blocks do not count");
const rate = option("every", 1, "follows one block of so many");
const older = option("older", 0, "seconds: younger blocks do not count");
const top = option("top", 10, "how many stacks to print");
const frames = option("frames", 12, "frames of a stack");

const stacks = new Map(); // where blocks were allocated, by address and process
const heap = allocations({ module, least, every: rate, on: (c, address, size) => { exit({ address, caller: c.caller, stack: c.stack(frames + 1) }); }, told });

// asked returns the lines of a stack from the caller on: malloc has several returns, and each would make another stack.
function asked(e) {
  const own = Math.max(0, e.stack.frames.findIndex(f => f.addr === e.caller));
  return `${e.stack}`.split("\n").slice(own, own + frames).join("\n");
}

function told(e) {
  stacks.set(`${e.address},${e.pid}`, { text: asked(e), time: e.time });
  if (stacks.size > 1e5) sweep();
}

// sweep deletes the entries of blocks that were freed.
function sweep() {
  const live = new Set(heap.live.entries().map(entry => String(entry[0])));
  for (const block of stacks.keys()) if (!live.has(block)) stacks.delete(block);
}

end(() => {
  const latest = now() - older * 1e9;
  const groups = new Map();
  let blocks = 0, bytes = 0;
  for (const [block, n] of heap.live.entries()) {
    const known = stacks.get(String(block));
    if (known && known.time > latest) continue;
    const text = known?.text ?? "    (stack lost)";
    const group = groups.get(text) ?? { blocks: 0, bytes: 0 };
    group.blocks += rate;
    group.bytes += Number(n) * rate;
    groups.set(text, group);
    blocks += rate;
    bytes += Number(n) * rate;
  }
  const allocated = heap.allocated.get(), freed = heap.freed.get();
  report({ name: "heap", columns: ["blocks", "bytes", "allocated", "freed"], rows: [[blocks, bytes, allocated, freed]] },
    `${counted(blocks, "block")} with ${size(bytes)} ${blocks === 1 ? "was" : "were"} not freed; ${allocated} allocated, ${freed} freed`);
  const most = [...groups].sort((a, b) => b[1].bytes - a[1].bytes);
  const texts = most.slice(0, top).map(([text, g]) => `${counted(g.blocks, "block")}, ${size(g.bytes)}, asked for by\n${text}`);
  if (texts.length > 0) {
    report({ name: "leaks", columns: ["blocks", "bytes", "stack"], rows: most.map(([text, g]) => [g.blocks, g.bytes, text.trim().split(/\n */)]) }, texts.join("\n"));
  }
  heap.live.clear();
  heap.sizes.clear();
  heap.allocated.clear();
  heap.freed.clear();
});
