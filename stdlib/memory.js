// gotap/memory: allocators.
//
//   import { allocations } from "gotap/memory";
//   const heap = allocations({ least: 1024 });
//   end(() => { for (const [address, size] of heap.live.entries()) console.log(hex(address), size); });
//
// allocations({ module, least, every, max, on })   keeps the blocks that are allocated and not freed yet:
//     module   what has malloc, calloc, realloc, free and the like: "libjemalloc" for example, or a program; by default all of allocators()
//     least    smaller blocks do not count (0)
//     every    N keeps one block in N (1), which costs less
//     max      the largest number of blocks (65536); more are counted as lost
//     on       a program (c, address, size) that runs for each block kept, in leave of the allocating function
//     told     called on the host with the record, when that program ends with exit({…})
//   returns { live, sizes, allocated, freed, probes }: a map from address to size, a histogram, and two counts
// allocators()      the modules that are searched for malloc: the C libraries, jemalloc, tcmalloc, mimalloc, and the program itself
// inAllocators(name, module)   the places of a function in all of them, or in that module
//
// Memory from mmap is not seen, nor are the parts into which the program divides a block itself. A realloc
// counts as a free and an allocation. If no such module is ever loaded, a line at the end says so. Go's collector frees memory by itself, without
// calls that could be seen.

import { options, absent } from "gotap/module";

export const allocators = () => ["libc", "ld-musl*", "libjemalloc", "libtcmalloc*", "libmimalloc", "a.out"];
export const inAllocators = (name, module = "") => (module === "" ? allocators() : [module]).map(m => `${m}:${name}`);

export function allocations(given) {
  const o = options("gotap/memory", given, { module: "", least: 0, every: 1, max: 65536, on: (c, address, size) => {}, told: () => {} });
  const live = map("live blocks", { keys: 1, max: o.max });
  const sizes = hist("sizes of blocks");
  const allocated = count("allocated"), freed = count("freed");
  const note = keeper(o, live, sizes, allocated);
  const forget = p => {
    if (p !== 0 && live.has(p)) {
      live.delete(p);
      freed.inc();
    }
  };
  const at = name => inAllocators(name, o.module);
  const probes = [
    probe(["malloc", "valloc", "pvalloc"].flatMap(at), { enter(c) { this.size = c.arg0; }, leave(c) { note(c, c.ret, this.size); }, exit: o.told, optional: true }),
    probe(at("calloc"), { enter(c) { this.size = c.arg0 * c.arg1; }, leave(c) { note(c, c.ret, this.size); }, exit: o.told, optional: true }),
    probe(["aligned_alloc", "memalign"].flatMap(at), { enter(c) { this.size = c.arg1; }, leave(c) { note(c, c.ret, this.size); }, exit: o.told, optional: true }),
    probe(at("posix_memalign"), {
      enter(c) { this.size = c.arg2; this.to = c.arg0; },
      leave(c) { if ((c.ret << 32) >> 32 === 0) note(c, ptr(this.to), this.size); },
      exit: o.told,
      optional: true,
    }),
    probe(at("realloc"), {
      enter(c) { this.old = c.arg0; this.size = c.arg1; },
      leave(c) {
        if (c.ret === 0 && this.size !== 0) return; // realloc failed: the old block is still allocated
        forget(this.old);
        note(c, c.ret, this.size);
      },
      exit: o.told,
      optional: true,
    }),
    probe(at("free"), { enter(c) { forget(c.arg0); }, optional: true }),
  ];
  const collected = probe("a.out:runtime.mallocgc", { enter(c) {}, optional: true, disabled: true });
  absent("gotap/memory", probes, `malloc in ${o.module || "one of the usual places"}`);
  end(() => {
    if (collected.places > 0 && probes.every(p => p.hits === 0)) console.error("gotap/memory: Go's memory is freed by its garbage collector; the sample mallocs shows what is allocated");
  });
  return { live, sizes, allocated, freed, probes };
}

// keeper returns the program that records a block. One allocator may call another, so a block may be recorded twice.
function keeper(o, live, sizes, allocated) {
  const least = o.least, every = o.every, on = o.on;
  return (c, address, size) => {
    if (address === 0 || size < least || live.has(address)) return;
    if (every > 1 && (address >> 4) % every !== 0) return;
    live.set(address, size);
    sizes.add(size);
    allocated.inc();
    on(c, address, size);
  };
}
