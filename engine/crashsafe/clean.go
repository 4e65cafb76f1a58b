package crashsafe

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"gotap/engine/abi"
	"gotap/engine/crashsafe/fallback"
	"gotap/engine/image/module"
	"gotap/engine/inject"
	"gotap/engine/inline"
	"gotap/engine/linux/procfs"
	"gotap/engine/linux/ptrace"
)

// Cleaned is what Clean found.
type Cleaned struct {
	Restored []string // places, as "libc.so.6+0x97a20"
	CPUs     string   // the CPUs that the process may run on again, as "0-3"; "" if they had not been changed
}

// Undoer is a session that only undoes what earlier ones left in a process.
type Undoer interface {
	// TakeOver installs the session's fallback in place of the one that was left, and reports whether that is done.
	TakeOver() (done bool)
	// Held calls fn while all threads of the process are stopped, unless it has ended.
	Held(fn func(*Process))
	// Close ends the session, which restores the action for SIGTRAP.
	Close() error
}

// cleanPatience is how long Clean waits for a session to take over, and for handlers to end.
const cleanPatience = 6 * time.Second

// Clean removes from a process what a session left in it that was killed before it could do so: breakpoints, the action
// for SIGTRAP, and the CPUs that were set. It finds breakpoints in the table of the fallback. If there is no table, or
// it was full, Clean compares the code with the files it is mapped from. A breakpoint instruction in memory, where the
// file has the start of another instruction, was left behind. All other differences belong to the process. To restore
// the action, Clean attaches briefly, as any session would.
//
// Writing one byte of an instruction while threads run is safe: a thread fetches either the old or the new byte, and
// both form whole instructions (see Poke).
func Clean(pid int, mem *ptrace.Memory, attach func() (Undoer, error)) (Cleaned, error) {
	var c Cleaned
	left, all := restoreRegions(pid, mem) // first of all: threads may be about to hit what is left
	c.CPUs = left.cpus
	var cache module.Cache
	defer cache.Close()
	mods, err := cache.Load(pid)
	if err != nil {
		return c, errors.Join(all, fmt.Errorf("cannot read the modules of process %d: %w", pid, err))
	}
	for _, addr := range left.restored {
		c.Restored = append(c.Restored, placeOf(mods, addr))
	}
	if left.regions > 0 || len(left.stubs) > 0 {
		all = errors.Join(all, left.takeOver(attach))
	}
	for i := range mods {
		if mods[i].File != nil && mods[i].Err == nil {
			all = errors.Join(all, c.module(pid, mem, &mods[i]))
		}
	}
	return c, all
}

// remains are what earlier sessions left in a process.
type remains struct {
	restored []uint64       // addresses where breakpoints were removed, or jumps are going to be
	regions  int            // regions of the fallback
	stubs    []module.Range // code of system calls, in padding
	cpus     string         // that the process may run on again
}

// restoreRegions restores what the regions say that earlier sessions left in a process: the instructions in their
// tables, and the CPUs.
func restoreRegions(pid int, mem *ptrace.Memory) (left remains, err error) {
	a, e := abi.OfProcess(procfs.Living(pid))
	if e != nil || a.Native == nil {
		return left, nil // sessions install no fallback there
	}
	list, e := module.Maps(pid)
	if e != nil {
		return left, nil
	}
	maps := mappings(list)
	for _, j := range leftJumps(mem, maps) { // takeOver restores them
		if !j.Springboard {
			left.restored = append(left.restored, j.Addr)
		}
	}
	regions := FindRegions(mem, maps, a.WordSize())
	for _, r := range regions {
		left.restored = append(left.restored, fallback.Restore(mem, r.Base, r.Head, maps.data)...)
		cpus, e := restorePinned(pid, mem, r.Base)
		left.cpus, err = cmp.Or(left.cpus, cpus), errors.Join(err, e)
	}
	left.regions, left.stubs = len(regions), inject.LeftStubs(mem, maps, a.Native)
	return left, err
}

// leftJumps returns the jumps that sessions have left.
func leftJumps(mem *ptrace.Memory, maps mappings) (found []inline.Jump) {
	for _, l := range inline.Find(mem, maps.anonymousCode) {
		found = append(found, l.Jumps(mem, maps.data)...)
	}
	return found
}

// takeOver makes a session take over the region and then close, which restores the action for SIGTRAP.
func (left remains) takeOver(attach func() (Undoer, error)) error {
	s, err := attach()
	if err != nil {
		return err
	}
	if left.regions > 0 {
		TakeUp(s)
	}
	if len(left.stubs) > 0 {
		err = clearStubs(s, left.stubs)
	}
	return errors.Join(err, s.Close())
}

// TakeUp waits until the session has taken over the region that an earlier one left, and no thread runs the handler of
// that one. An attach tries to take over once, with one thread, and a thread that constantly hits a watchpoint reports
// that stop first.
func TakeUp(s Undoer) {
	for end := time.Now().Add(cleanPatience); !s.TakeOver() && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	awaitHandlers(s)
}

// awaitHandlers waits until no thread runs the handler of the region that an earlier session left, or is about to. The
// handler may still send SIGTRAP to other threads, which only the handler survives.
func awaitHandlers(s Undoer) {
	for end := time.Now().Add(cleanPatience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		busy := false
		s.Held(func(p *Process) { busy = p.inHandler() })
		if !busy {
			return
		}
	}
}

// inHandler reports whether a thread of the process runs the handler, has a SIGTRAP to come, or cannot be examined.
func (p *Process) inHandler() bool {
	base := p.on.Space().Base
	for x := range p.on.Threads() {
		pc, known := x.t.UserPC()
		if !known || pc >= base && pc < base+fallback.StubAt || procfs.SignalSet(x.t.Tid, "SigPnd")&ptrace.TrapBit != 0 {
			return true
		}
	}
	return false
}

// placeOf names an address by its module.
func placeOf(mods []module.Loaded, addr uint64) string {
	if m := module.Find(mods, addr); m != nil {
		return fmt.Sprintf("%s+%#x", m.Path, m.Vaddr(addr))
	}
	return fmt.Sprintf("%#x", addr)
}

// clearPatience is how long Clean waits for a moment in which all threads are seen to be outside the code.
const clearPatience = 10 * time.Second

// clearStubs zeroes code that earlier sessions left in the padding of a process, as soon as no thread is in it. A
// session that is killed while it makes a process call the kernel leaves such code (package inject).
func clearStubs(s Undoer, left []module.Range) error {
	for end := time.Now().Add(clearPatience); ; time.Sleep(time.Millisecond) {
		cleared := true
		s.Held(func(p *Process) { cleared = p.clearUnused(left) })
		if cleared {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("cannot clear %#x: a thread stays in the code there", left[0].Start)
		}
	}
}

// clearUnused zeroes the code if all threads of the process are seen to be outside it.
func (p *Process) clearUnused(left []module.Range) (cleared bool) {
	for x := range p.on.Threads() {
		if pc, known := x.t.UserPC(); !known || isIn(left, pc) {
			return false
		}
	}
	var all error
	for _, r := range left {
		sp := p.on.Space()
		all = errors.Join(all, sp.on.Memory().Poke(r.Start, make([]byte, r.End-r.Start), sp.on.StoppedTid()))
	}
	return all == nil
}

func isIn(ranges []module.Range, addr uint64) bool {
	for _, r := range ranges {
		if r.Contains(addr) {
			return true
		}
	}
	return false
}
