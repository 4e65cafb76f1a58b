// gotap/memory: allocators.
//
//   import { allocations } from "gotap/memory";
//   const heap = allocations({ least: 1024 });
//   end(() => { for (const [[address, pid], size] of heap.live.entries()) console.log(hex(address), size); });
//
// allocations({ module, least, every, max, on })   keeps the blocks that are allocated and not freed yet:
//     module   what has malloc, calloc, realloc, free and the like: "libjemalloc" for example, or a program; by default all of allocators()
//     least    smaller blocks do not count (0)
//     every    N keeps one block in N (1), which costs less
//     max      the largest number of blocks (65536); more are counted as lost
//     on       a program (c, address, size) that runs for each block kept, in leave of the allocating function
//     told     called on the host with the record, when that program ends with exit({…})
//   returns { live, sizes, allocated, freed, probes }: a map from [address, pid] to size, a histogram, and two counts. Blocks of a process
//   that its child after fork frees are the child's copies, which do not count
// requests({ module, on, again, told })   probes every function that allocates, and returns the probes:
//     on       a program (c, size, address) that runs in leave for each block: in the function that got it from the allocator
//     again    a program (c, size, address) that runs when a function returns a block that it got from another one of them,
//              as operator new does from malloc
//     module, told   as above
//   malloc, calloc, realloc, reallocarray, aligned_alloc, memalign, posix_memalign, valloc, pvalloc and mallocx, with the prefixes that
//   allocators linked into a program give them, and the operators new of C++. A failed request is none
// releases({ module, on, told })   probes every function that frees, and returns the probe: the program (c, address) runs before a block is
//   freed, once although operator delete calls free
// allocators()      the modules that are searched: the C libraries, jemalloc, tcmalloc, mimalloc, the libraries of C++, and the program itself
// inAllocators(name, module)   the places of a function in all of them, or in that module
//
// Memory from mmap is not seen, nor are the parts into which the program divides a block itself. A realloc
// counts as a free and an allocation. If no such module is ever loaded, a line at the end says so. Go's collector frees memory by itself, without
// calls that could be seen.

import { options, absent } from "gotap/module";

export const allocators = () => ["libc", "ld-musl*", "libjemalloc", "libtcmalloc*", "libmimalloc", "libstdc++", "libc++*", "a.out"];
export const inAllocators = (name, module = "") => (module === "" ? allocators() : [module]).map(m => `${m}:${name}`);

// Prefixes of allocators that are linked into a program beside the C library's: of jemalloc, the same in Rust, mimalloc, tcmalloc.
const prefixes = ["", "je_", "_rjem_", "mi_", "tc_"];
const places = (names, module) => names.flatMap(name => prefixes.map(prefix => prefix + name)).flatMap(name => inAllocators(name, module));
const mangled = (names, module) => names.flatMap(name => inAllocators(name, module));

export function requests(given) {
  const { module, on, again, told } = options("gotap/memory", given, { module: "", on: (c, size, address) => {}, again: (c, size, address) => {}, told: () => {} });
  const gave = perThread(0); // the block of the call that returned last, 0 once another has begun: who returns it now, got it from that call
  const done = (c, size, address) => {
    if (address === 0) return;
    if (gave.value === address) {
      again(c, size, address);
      return;
    }
    gave.value = address;
    on(c, size, address);
  };
  const sized = (specs, size) => probe(specs, {
    enter(c) { this.size = size(c); gave.value = 0; },
    leave(c) { done(c, this.size, c.ret); },
    exit: told,
    optional: true,
  });
  const at = (...names) => places(names, module);
  return [
    sized([...at("malloc", "valloc", "pvalloc", "mallocx"), ...mangled(["_Znw[jm]*", "_Zna[jm]*"], module)], c => c.arg0),
    sized(at("calloc"), c => c.arg0 * c.arg1),
    sized(at("realloc", "rallocx", "aligned_alloc", "memalign"), c => c.arg1),
    sized(at("reallocarray"), c => c.arg1 * c.arg2),
    probe(at("posix_memalign"), {
      enter(c) { this.size = c.arg2; this.to = c.arg0; gave.value = 0; },
      leave(c) { if ((c.ret << 32) >> 32 === 0) done(c, this.size, ptr(this.to)); },
      exit: told,
      optional: true,
    }),
  ];
}

export function releases(given) {
  const { module, on, told } = options("gotap/memory", given, { module: "", on: (c, address) => {}, told: () => {} });
  const address = perThread(0), caller = perThread(0), first = perThread(0), last = perThread(0); // of the last call and those it made
  return probe([...places(["free", "dallocx", "sdallocx"], module), ...mangled(["_ZdlPv*", "_ZdaPv*"], module)], {
    enter(c) {
      const wrapped = c.arg0 === address.value && c.pc !== first.value && (c.caller === caller.value || ult(c.caller - last.value, 256));
      last.value = c.pc;
      if (wrapped) return;
      address.value = c.arg0;
      caller.value = c.caller;
      first.value = c.pc;
      if (c.arg0 !== 0) on(c, c.arg0);
    },
    exit: told,
    optional: true,
  });
}

export function allocations(given) {
  const o = options("gotap/memory", given, { module: "", least: 0, every: 1, max: 65536, on: (c, address, size) => {}, told: () => {} });
  const live = map("live blocks", { keys: 2, max: o.max });
  const sizes = hist("sizes of blocks");
  const allocated = count("allocated"), freed = count("freed");
  const note = keeper(o, live, sizes, allocated);
  const probes = [
    resized(o.module, live, freed),
    ...requests({ module: o.module, on: (c, size, address) => { note(c, address, size); }, told: o.told }),
    releases({
      module: o.module,
      on: (c, address) => {
        if (!live.has(address, c.pid)) return;
        live.delete(address, c.pid);
        freed.inc();
      },
    }),
  ];
  const collected = probe("a.out:runtime.mallocgc", { enter(c) {}, optional: true, disabled: true });
  absent("gotap/memory", probes, `malloc in ${o.module || "one of the usual places"}`, undefined,
    () => collected.places > 0 && "Go's memory is freed by its garbage collector; the sample mallocs shows what is allocated");
  return { live, sizes, allocated, freed, probes };
}

// resized forgets the block that realloc is given before the call, because another thread may get its address during it, and
// takes it back if the call fails.
const resized = (module, live, freed) => probe(places(["realloc", "reallocarray", "rallocx"], module), {
  enter(c) {
    this.old = c.arg0;
    this.had = 0;
    if (c.arg0 !== 0 && live.has(c.arg0, c.pid)) {
      this.had = live.get(c.arg0, c.pid);
      live.delete(c.arg0, c.pid);
    }
    this.last = c.func === "reallocarray" ? c.arg1 * c.arg2 : c.arg1;
  },
  leave(c) {
    if (this.had === 0) return;
    if (c.ret === 0 && this.last !== 0) live.set(this.old, c.pid, this.had);
    else freed.inc();
  },
  optional: true,
});

// keeper returns the program that records a block. One allocator may call another, so a block may be recorded twice.
function keeper(o, live, sizes, allocated) {
  const least = o.least, every = o.every, on = o.on;
  return (c, address, size) => {
    if (address === 0 || size < least || live.has(address, c.pid)) return;
    if (every > 1 && (address >> 4) % every !== 0) return;
    live.set(address, c.pid, size);
    sizes.add(size);
    allocated.inc();
    on(c, address, size);
  };
}
