package trampoline

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gotap/engine/backend"
	"gotap/engine/crashsafe/fallback"
	"gotap/engine/image/module"
	"gotap/engine/linux/procfs"
	"gotap/engine/linux/ptrace"
	"gotap/engine/space"
	"gotap/runtime/native"
	"gotap/runtime/ranges"
)

// Memory that native code reads.
//
// Native code reads the ranges that a table in the arena has (package ranges), one table for each address space. The
// session fills it from the mappings of the process when the first stub that reads is written, again when a doorbell
// has rung for memory that is readable but not in the table, and again when a read has faulted: mappings come and go
// while the process runs.
//
// A fault in a stub is never the program's (faulted). But before the session sees it, the kernel resets the action for
// the signal to the default if the thread blocks the signal or the program ignores it (force_sig_info_to_task in its
// kernel/signal.c), and unblocks it. So while a process ignores SIGSEGV or SIGBUS, or a thread of it blocks one of
// them, the table is empty, and reads ring. The session looks every second, and before the program sets an action of
// the two through the C library or Go's runtime. What the kernel resets between two looks is restored
// (readFault.restore).
//
// The table leaves out memory that native code must not read: code, because programs must not see breakpoints and jumps
// in it; memory of devices and drivers; and pages at which a read has faulted although they are mapped for reading
// (protection keys, files that have become shorter).

// spaceReads is what native code may read in an address space.
type spaceReads struct {
	table  *ranges.Table // nil: none yet
	filled bool
	// writable is the same of what can be written, for instructions whose operands are looked at (operand.go).
	writable *ranges.Table
	refused  error          // why nothing is read natively, for good; nil: it may be
	exempt   []ranges.Range // pages whose reads fault
	faults   int
	next     time.Time     // the table is not filled again before
	wait     time.Duration // between two attempts that brought nothing new
}

// Limits of reads that fault, in an address space. Each costs a stop, as a doorbell does.
const (
	mostFaults = 64 // then all reads ring
	mostExempt = 16
)

// Times between two attempts to fill the table.
const (
	shortestWait = 10 * time.Millisecond
	longestWait  = time.Second
)

// Reasons why reads stop threads.
var (
	errFaults    = errors.New("its reads have faulted too often")
	errIgnores   = errors.New("it ignores SIGSEGV or SIGBUS")
	errBlocks    = errors.New("a thread blocks SIGSEGV or SIGBUS")
	errNoActions = errors.New("its actions for SIGSEGV and SIGBUS are not known")
)

// readSignals are the signals that a read may raise.
var readSignals = [...]int{ptrace.SIGSEGV, ptrace.SIGBUS}

// readBits is the set of them.
const readBits = 1<<(ptrace.SIGSEGV-1) | 1<<(ptrace.SIGBUS-1)

// faultActions are the program's actions for readSignals, as they were when they were last asked for.
type faultActions struct {
	of    *space.Space // the address space in which the program had them; nil: they are not known
	stale bool         // they have to be asked for again before the table is filled
	own   [len(readSignals)]fallback.Action
}

// tableOf makes the table of an address space, if it has none.
func (c *Executor) tableOf(sp *space.Space) {
	r := &codeIn(sp).reads
	if r.table == nil && r.refused == nil {
		r.table, r.refused = c.newTable()
	}
}

// newTable returns an empty table.
func (c *Executor) newTable() (*ranges.Table, error) {
	if n := len(c.freeRanges); n > 0 {
		t := c.freeRanges[n-1]
		c.freeRanges = c.freeRanges[:n-1]
		return t, nil
	}
	return ranges.New(c.set.Arena)
}

// dropRanges takes the tables of an address space that no longer exists.
func (c *Executor) dropRanges(sp *space.Space) {
	r := &codeIn(sp).reads
	for _, t := range []*ranges.Table{r.table, r.writable} {
		if t != nil {
			t.Clear()
			c.freeRanges = append(c.freeRanges, t)
		}
	}
	*r = spaceReads{}
}

// empty makes all reads ring, and the next attempt to fill the table come no sooner than after some time.
func (r *spaceReads) empty(wait time.Duration) {
	if r.filled {
		r.table.Clear()
		if r.writable != nil {
			r.writable.Clear()
		}
	}
	r.filled, r.next = false, time.Now().Add(wait)
}

// reader is a stopped thread through which the table of its address space is filled. Its registers have been read.
type reader struct{ *Thread }

// fill fills the table from the mappings of the process.
func (t reader) fill() {
	r := &codeIn(t.proc.Space).reads
	if r.table == nil || r.refused != nil {
		return
	}
	if why := t.unable(); why != nil {
		r.wait = min(max(2*r.wait, shortestWait), longestWait)
		r.empty(r.wait)
		if t.by.set.Strategy == backend.Inline && r.wait == longestWait { // the C library blocks all signals for moments
			t.by.on.Warn(fmt.Sprintf("process %d: its threads stop where programs read its memory: %v", t.proc.Pid, why))
		}
		return
	}
	began := time.Now()
	maps, err := module.Maps(t.proc.Pid)
	if err != nil {
		return
	}
	var list, writable []ranges.Range
	for _, m := range maps {
		if !isPlain(m) {
			continue
		}
		parts := without(ranges.Range{Start: m.Start, End: m.End}, r.exempt)
		list = append(list, parts...)
		if m.Write {
			writable = append(writable, parts...)
		}
	}
	if r.table.Set(list); r.writable != nil {
		r.writable.Set(writable)
	}
	r.filled, r.wait = true, max(shortestWait, 20*time.Since(began))
	r.next = time.Now().Add(r.wait)
}

// unable returns why nothing may be read natively now. It asks for the actions of the program, unless they are known.
func (t reader) unable() error {
	p := t.proc
	if err := p.refusesReads(); err != nil {
		return err
	}
	if p.actions.of == p.Space && !p.actions.stale {
		return nil
	}
	for i, sig := range readSignals {
		a, err := t.parts.Guard.QueryAction(sig)
		if err != nil {
			return errNoActions
		}
		p.actions.own[i] = a
	}
	p.actions.of, p.actions.stale = p.Space, false
	return nil
}

// refusesReads returns why a fault of a thread of the process would change the actions of the process.
func (p *Process) refusesReads() error {
	if procfs.SignalSet(p.Pid, "SigIgn")&readBits != 0 {
		return errIgnores
	}
	const most = 64 // threads: the map yields others each time
	n := 0
	for tid := range p.On.Tids() {
		if procfs.SignalSet(tid, "SigBlk")&readBits != 0 {
			return errBlocks
		}
		if n++; n == most {
			break
		}
	}
	return nil
}

// checkReads empties the tables of processes that have come to block or ignore the signals. What is known of their
// actions is kept: a read may have faulted already, and the kernel have reset the action, while the stop of its thread
// has not been looked at.
func (c *Executor) checkReads() {
	for p := range c.on.Processes() {
		if codeIn(p.Space).reads.filled && p.refusesReads() != nil {
			p.actions.stale = true
			codeIn(p.Space).reads.empty(shortestWait)
		}
	}
}

// ActionSet is called when the program is about to set its action for a signal.
func (p *Process) ActionSet(sig int) {
	if slices.Contains(readSignals[:], sig) {
		p.actions.of = nil
		codeIn(p.Space).reads.empty(longestWait) // the call is made by then
	}
}

// isPlain reports whether a mapping is memory that can be read without consequences, and contains no code.
func isPlain(m module.Mapping) bool {
	if !m.Read || m.Exec {
		return false
	}
	switch path := m.Path; {
	case path == "", path == "[heap]", path == "[stack]", strings.HasPrefix(path, "[anon"), strings.HasPrefix(path, "/dev/shm/"), strings.HasPrefix(path, "/dev/zero"):
		return true
	case !strings.HasPrefix(path, "/"), strings.HasPrefix(path, "/dev/"), strings.HasPrefix(path, "/sys/"), strings.HasPrefix(path, "/proc/"), strings.HasPrefix(path, "/drm "), strings.HasPrefix(path, "/dmabuf"):
		return false
	}
	return m.Inode != 0
}

// without returns the parts of a range that are in none of the others.
func without(r ranges.Range, others []ranges.Range) (parts []ranges.Range) {
	for _, o := range others {
		if o.Start < r.End && o.End > r.Start {
			if o.Start > r.Start {
				parts = without(ranges.Range{Start: r.Start, End: o.Start}, others)
			}
			if o.End < r.End {
				parts = append(parts, without(ranges.Range{Start: o.End, End: r.End}, others)...)
			}
			return parts
		}
	}
	return []ranges.Range{r}
}

// missed is called when a doorbell has rung for memory at an address: the tables are filled again if it can be read but
// is not in its table.
func (t reader) missed(of *native.ReadOf, addr uint64) {
	r, n := &codeIn(t.proc.Space).reads, of.Size
	table := r.table
	if of.Writes {
		table = r.writable
	}
	if table == nil || r.refused != nil || time.Now().Before(r.next) || r.filled && table.Contains(addr, n) {
		return
	}
	var buf [ranges.Wide]byte
	if some := min(n, len(buf)); t.proc.Space.Mem.ReadAvailable(addr, buf[:some]) < some {
		return
	}
	wait := r.wait
	if t.fill(); r.filled && !table.Contains(addr, n) { // it will not be in the table next time either
		r.wait = min(max(2*wait, r.wait), longestWait)
		r.next = time.Now().Add(r.wait)
	}
}

// readAt returns the read whose instruction is at an address, with the stub, or nil.
func (j *spaceJumps) readAt(addr uint64) (*native.Read, *stub) {
	s := j.stubAt(addr)
	if s == nil {
		return nil, nil
	}
	i, ok := slices.BinarySearchFunc(s.reads, int(addr-s.start), func(f native.Read, at int) int { return f.At - at })
	if !ok {
		return nil, nil
	}
	return &s.reads[i], s
}

// LeaveRead moves a thread, which is about to be detached, away from a doorbell, and from a read that may fault: it
// goes on to the end of the stub.
func (t *Thread) LeaveRead() {
	j := &codeIn(t.proc.Space).jumps
	if len(j.stubs) == 0 || !t.GetRegs() {
		return
	}
	s := j.stubAt(*t.PC())
	if s == nil {
		return
	}
	if b := j.bells[*t.PC()]; b != nil {
		*t.PC() = b.behind()
		t.SetRegs()
		return
	}
	at := int(*t.PC() - s.start)
	for i := range s.reads {
		if f := &s.reads[i]; f.Test < at && at <= f.At {
			machineOf(t.proc.Space).ring(f, s.start, t.Regs[:])
			t.SetRegs()
			return
		}
	}
}
