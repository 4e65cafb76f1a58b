package trampoline

import (
	"gotap/engine/abi"
	"gotap/engine/linux/procfs"
	"gotap/engine/linux/ptrace"
	"gotap/engine/space"
	"gotap/engine/threadstate"
	"gotap/runtime/calls"
)

// Which thread native code finds in the table of owners.
//
// A thread that is in the table has a block of the arena to itself: its stack of calls, and its share of what is
// counted, where it writes with plain instructions (package calls). Native code finds the block by the base of fs. So a
// base is in the table only while one thread that may run has it, as far as is known, and native code counts in shares
// only where that is known of all threads of an address space:
//
//   - The session sees each new thread before it runs, and reads its base then (Born).
//   - Threads that ran before are read when they stop. One that sleeps in the kernel is left alone; the C library has
//     told the kernel where its list of robust mutexes is, in its own data, which no other thread has then. If a thread
//     has told nothing, no code is made that counts in shares.
//   - A thread that changes its base later must not take that of another one that runs. (Runtimes that switch between
//     coroutines with data of their own may do so: then one of them at a time has the base, and so the block.)
//   - If two have the same base, none is in the table, until one of them has ended (ownership.holders).
//   - A child of vfork has the base of its parent, and uses its block. The parent waits meanwhile. If it is killed, its
//     block is not used again.
//   - A forked child has the base of its parent too, but not the table: its space gets one of its own, and its places
//     get breakpoints before it runs. Only if a signal handler forks that has interrupted native code, the child may
//     finish that one hit with the table of its parent. Both processes then count this hit, or they do it at the same
//     instant and count it once; it was one call.
//
// A thread that is not in the table counts in the words that all share, and rings where it needs a stack. When it has
// ended, the next thread gets its block, with what has been counted in there. A program that has been executed has a
// space of its own, with another table.

// ownership is who has which base of fs in an address space.
type ownership struct {
	threads map[uint64]*Thread // those in the table
	shared  map[uint64]bool    // bases that are never in the table
	holders map[uint64]int     // threads whose base is known, and that have not ended
	waiting map[uint64]*Thread // they have the base of a thread of which the kernel has not told yet that it has ended
	lent    map[int]*Thread    // parents of children of vfork, which have the base of their parent, by the IDs of the children
	alone   bool               // all threads are known to have bases of their own, unless holders says otherwise
}

// knownBase is the base of fs that a thread had when it was read last.
type knownBase struct {
	base uint64
	ok   bool
}

// note notes the base of a thread.
func (n *ownership) note(t *Thread, base uint64) {
	if t.stack.seen == (knownBase{base, true}) {
		return
	}
	n.forget(t)
	if n.holders == nil {
		n.holders = map[uint64]int{}
	}
	n.holders[base]++
	t.stack.seen = knownBase{base, true}
}

// forget undoes note. It returns the thread that has waited for that; nil: none.
func (n *ownership) forget(t *Thread) *Thread {
	if !t.stack.seen.ok {
		return nil
	}
	base := t.stack.seen.base
	t.stack.seen = knownBase{}
	if n.waiting[base] == t {
		delete(n.waiting, base)
	}
	if n.holders[base]--; n.holders[base] > 0 {
		if n.holders[base] == 1 {
			return n.waiting[base]
		}
		return nil
	}
	delete(n.holders, base)
	return nil
}

// lends reports whether a child of vfork uses the block of a thread.
func (n *ownership) lends(t *Thread) bool {
	for _, parent := range n.lent {
		if parent == t {
			return true
		}
	}
	return false
}

// share notes that several threads have a base of fs, so that native code cannot tell them apart.
func (n *spaceCalls) share(base uint64) {
	if n.owns.shared == nil {
		n.owns.shared = map[uint64]bool{}
	}
	n.owns.shared[base] = true
	if o := n.owns.threads[base]; o != nil {
		n.vacate(base, o)
	}
}

// vacate makes native code forget a thread that it finds under a base of fs.
func (n *spaceCalls) vacate(base uint64, t *Thread) {
	if n.owns.threads[base] == t {
		delete(n.owns.threads, base)
		n.owners.Remove(base)
	}
}

// enlist gives a thread a block, if it has none and there is one, or tells native code that its base of fs has changed.
func (t *Thread) enlist(base uint64) {
	n, in := &t.by.calls, &codeIn(t.proc.Space).calls
	o := &in.owns
	if o.lent[t.Tid] != nil {
		return
	}
	o.note(t, base)
	if n.stacks == nil || in.owners == nil || base == 0 || o.threads[base] == t || o.shared[base] {
		return // 0: it has no data yet
	}
	if o.holders[base] > 1 {
		if other := o.threads[base]; other != nil {
			in.vacate(base, other)
		}
		if o.waiting == nil {
			o.waiting = map[uint64]*Thread{}
		}
		o.waiting[base] = t
		return
	}
	if t.stack.of == nil {
		if t.stack.of = n.stacks.Take(t.Tid); t.stack.of == nil {
			return
		}
	}
	in.vacate(t.stack.base, t)
	t.tellComm()
	t.HitOver()
	if in.owners.Set(base, t.stack.of) {
		if o.threads == nil {
			o.threads = map[uint64]*Thread{}
		}
		o.threads[base], t.stack.base = t, base
	}
}

// enlistEarly is enlist for a thread that has not asked for a block. Half of the blocks are left for those that do. The
// thread has stopped.
func (t *Thread) enlistEarly() {
	in := &codeIn(t.proc.Space).calls
	base, failed := ptrace.ThreadPointer(t.Tid)
	switch {
	case failed != 0:
	case in.owns.lent[t.Tid] == nil && t.stack.of == nil && !t.by.calls.leaves():
		in.owns.note(t, base)
	default:
		t.enlist(base)
	}
}

// leaves reports whether enough blocks are left for threads that ask for one.
func (n *nativeCalls) leaves() bool { return n.stacks != nil && n.stacks.Free() > calls.MaxThreads/2 }

// enlistRunning enlists threads that run and have not been read yet, or had no data then.
func (c *Executor) enlistRunning() {
	const most = 64 // at a time
	if !c.calls.leaves() {
		return
	}
	n := 0
	held := c.on.Hold(func(t *Thread) bool {
		unseen := codeIn(t.proc.Space).calls.owners != nil && t.stack.seen.base == 0 && n < most
		if unseen {
			n++
		}
		return unseen
	})
	for _, t := range held {
		t.enlistEarly()
	}
	c.on.Release(held)
}

// counts reports whether native code may count in the shares of the threads of an address space.
func (c *Executor) counts(sp *space.Space) bool {
	o := &codeIn(sp).calls.owns
	if o.alone {
		return true
	}
	for t := range c.on.Threads() {
		known := t.stack.seen.ok || o.lent[t.Tid] != nil || t.parts.State.Is(threadstate.Fresh) || ptrace.HasRobustList(t.Tid)
		if t.proc.Space == sp && !known && !procfs.Ended(t.Tid) {
			return false
		}
	}
	o.alone = true
	return true
}

// Bears is called when a thread, whose registers have been read, creates another one, or a process, that shares its
// memory. flags are those of clone; vfork says that the thread waits for the child.
func (t *Thread) Bears(child int, flags uint64, vfork bool) {
	const setsTLS = 0x80000 // CLONE_SETTLS
	in := &codeIn(t.proc.Space).calls
	switch {
	case machineOf(t.proc.Space) == nil || flags&setsTLS != 0:
	case vfork:
		if in.owns.lent == nil {
			in.owns.lent = map[int]*Thread{}
		}
		in.owns.lent[child] = t
	default:
		in.share(t.ownData())
	}
}

// Born is called at the first stop of a new thread. It may have the data of one that has ended, of which the kernel has
// not told yet. Nor may native code take it for the thread whose data its own begin with.
func (t *Thread) Born() {
	in := &codeIn(t.proc.Space).calls
	if !t.by.Inlines() || machineOf(t.proc.Space) == nil || in.owns.lent[t.Tid] != nil {
		return
	}
	if t.enlistEarly(); in.owners == nil || !t.stack.seen.ok || t.proc.Space.ABI != &abi.AMD64 {
		return
	}
	base := t.stack.seen.base
	if first, ok := firstWord(t.proc.Space, base); ok && first != base {
		in.share(first)
	}
}

// Drop gives back the thread's block: the thread or its image no longer exists.
func (t *Thread) Drop() {
	in := &codeIn(t.proc.Space).calls
	delete(in.owns.lent, t.Tid)
	waits := in.owns.forget(t)
	if t.stack.of != nil {
		in.vacate(t.stack.base, t)
		if !in.owns.lends(t) {
			t.by.calls.stacks.Give(t.stack.of)
		}
		t.stack.of, t.stack.base = nil, 0
	}
	if waits != nil {
		waits.enlist(waits.stack.seen.base)
	}
}
