package engine

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"gotap/engine/abi"
	"gotap/engine/crashsafe/fallback"
	"gotap/engine/image/module"
	"gotap/engine/inject"
	"gotap/engine/isa"
	"gotap/engine/linux/procfs"
	"gotap/engine/linux/ptrace"
)

// Cleaned is what Clean found.
type Cleaned struct {
	Restored []string // places, as "libc.so.6+0x97a20"
}

// cleanPatience is how long Clean waits for a session that is ending: the death of its supervisor makes a session
// detach by itself, which takes a moment.
const cleanPatience = 6 * time.Second

// Clean removes from a process what a session left in it that was killed before it could do so: breakpoints, and the
// action for SIGTRAP. It finds breakpoints in the table of the fallback. If there is no table, or it was full, Clean
// compares the code with the files it is mapped from. A breakpoint instruction in memory, where the file has the start
// of another instruction, was left behind. All other differences belong to the process. To restore the action, Clean
// attaches briefly, as any session would. Clean does not touch a process that is being traced: its tracer will clean
// up, or has a reason not to.
//
// Writing one byte of an instruction while threads run is safe: a thread fetches either the old or the new byte, and
// both form whole instructions (see Poke).
func Clean(pid int) (Cleaned, error) {
	var c Cleaned
	if err := awaitUntraced(pid); err != nil {
		return c, err
	}
	mem, err := ptrace.OpenMemory(procfs.Living(pid))
	if err != nil {
		return c, &AttachError{Pid: pid, Err: err, help: "gotap doctor tells what this user may do"}
	}
	defer mem.Close()
	left := restoreRegions(pid, mem) // first of all: threads may be about to hit what is left
	var cache module.Cache
	defer cache.Close()
	mods, err := cache.Load(pid)
	if err != nil {
		return c, fmt.Errorf("cannot read the modules of process %d: %w", pid, err)
	}
	for _, addr := range left.restored {
		c.Restored = append(c.Restored, placeOf(mods, addr))
	}
	var all error
	if left.regions > 0 || len(left.stubs) > 0 {
		all = left.takeOver(pid)
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
	restored []uint64       // addresses where breakpoints were removed
	regions  int            // regions of the fallback
	stubs    []module.Range // code of system calls, in padding
}

// restoreRegions restores the instructions in the tables of the regions that earlier sessions left in a process.
func restoreRegions(pid int, mem *ptrace.Memory) (left remains) {
	a, err := abi.OfProcess(procfs.Living(pid))
	if err != nil || a.Native == nil {
		return left // sessions install no fallback there
	}
	list, err := module.Maps(pid)
	if err != nil {
		return left
	}
	maps := mappings(list)
	regions := regionsOf(mem, maps, a.WordSize())
	for _, r := range regions {
		left.restored = append(left.restored, fallback.Restore(mem, r.base, r.head, maps.data)...)
	}
	left.regions, left.stubs = len(regions), inject.LeftStubs(mem, maps, a.Native)
	return left
}

// takeOver makes a session take over the region and then close, which restores the action for SIGTRAP.
func (left remains) takeOver(pid int) error {
	s, err := New(Config{Follow: FollowThreads})
	if err != nil {
		return err
	}
	s.life.undoes = true
	if err = s.Attach(pid); err == nil && left.regions > 0 {
		takeUp(s, pid)
	}
	if err == nil && left.regions > 0 {
		awaitHandlers(s, pid)
	}
	if err == nil && len(left.stubs) > 0 {
		err = clearStubs(s, pid, left.stubs)
	}
	return errors.Join(err, s.Close(false))
}

// takeUp waits until the session has taken over the region that an earlier one left. An attach tries once, with one
// thread, and a thread that constantly hits a watchpoint reports that stop first.
func takeUp(s *Session, pid int) {
	for end := time.Now().Add(cleanPatience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		done := true
		s.do(func() error {
			if p := s.procs[pid]; p != nil {
				s.guards.protectAttached(p)
				done = !p.unguarded()
			}
			return nil
		})
		if done {
			return
		}
	}
}

// awaitHandlers waits until no thread runs the handler of the region that an earlier session left, or is about to. The
// handler may still send SIGTRAP to other threads, which only the handler survives.
func awaitHandlers(s *Session, pid int) {
	for end := time.Now().Add(cleanPatience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		busy := false
		s.do(func() error {
			if p := s.procs[pid]; p != nil {
				busy = inHandler(s, p)
			}
			return nil
		})
		if !busy {
			return
		}
	}
}

// inHandler reports whether a thread of the process runs the handler, has a SIGTRAP to come, or cannot be examined.
func inHandler(s *Session, p *process) bool {
	defer s.world.releaseWorld(s.world.holdAll())
	base := p.space.guard.Base
	for _, t := range p.threads {
		pc, known := t.UserPC()
		if !known || pc >= base && pc < base+fallback.StubAt || procfs.SignalSet(t.Tid, "SigPnd")&ptrace.TrapBit != 0 {
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

// awaitUntraced waits for a tracer to detach. If the tracer stays, the error names it.
func awaitUntraced(pid int) error {
	for end := time.Now().Add(cleanPatience); ; time.Sleep(20 * time.Millisecond) {
		if procfs.Status(pid, "Tgid") == "" {
			return &AttachError{Pid: pid, Err: ErrNoProcess}
		}
		by, _ := strconv.Atoi(procfs.Status(procfs.Living(pid), "TracerPid"))
		if by == 0 {
			return nil
		}
		if time.Now().After(end) {
			return &AttachError{Pid: pid, Err: fmt.Errorf("it is being traced, by process %d (%s)", by, procfs.Name(by)),
				help: "a running session takes its probes out itself when it ends"}
		}
	}
}

// module restores one module of a process.
func (c *Cleaned) module(pid int, mem *ptrace.Memory, m *module.Loaded) error {
	a := abi.Of(m.File)
	if a == nil {
		return nil
	}
	maps, err := module.Maps(pid)
	if err != nil {
		return fmt.Errorf("cannot clean %s: %w", m.Path, err)
	}
	for _, text := range m.File.Text() {
		for _, code := range m.Backed(maps, text) {
			if err := c.section(pid, mem, m, a, code); err != nil {
				return fmt.Errorf("cannot clean %s: %w", m.Path, err)
			}
		}
	}
	return nil
}

// cleanChunk is how much code is compared at a time.
const cleanChunk = 64 << 10

// section restores code that is mapped from a file.
func (c *Cleaned) section(pid int, mem *ptrace.Memory, m *module.Loaded, a *abi.ABI, text module.Range) error {
	now := make([]byte, cleanChunk+longestTrap-1) // a breakpoint that begins in this chunk may end in the next
	for at := text.Start; at < text.End; at += cleanChunk {
		file, err := m.File.Code(at, int(min(uint64(len(now)), text.End-at)))
		if err != nil || len(file) == 0 {
			return err
		}
		n := mem.PeekAvailable(m.Addr(at), now[:len(file)])
		var left []module.Range
		for i := range min(n, cleanChunk) {
			if !a.IsTrap(now[i:n]) {
				continue
			}
			vaddr := at + uint64(i)
			if trap := leftBehind(m, a, now[i:n], vaddr); trap > 0 {
				left = append(left, module.Range{Start: vaddr, End: vaddr + uint64(trap)})
			}
		}
		if err := c.restore(pid, mem, m, left); err != nil {
			return err
		}
	}
	return nil
}

// restore writes the file's instructions over breakpoints that were left in a module. It reads the mappings again: what
// the process has mapped there since belongs to the process.
func (c *Cleaned) restore(pid int, mem *ptrace.Memory, m *module.Loaded, left []module.Range) error {
	if len(left) == 0 {
		return nil
	}
	maps, err := module.Maps(pid)
	if err != nil {
		return err
	}
	for _, trap := range left {
		if !slices.Equal(m.Backed(maps, trap), []module.Range{trap}) {
			continue
		}
		code, err := m.File.Code(trap.Start, int(trap.End-trap.Start))
		if err != nil {
			return err
		}
		if err := mem.Poke(m.Addr(trap.Start), code, 0); err != nil {
			return err
		}
		c.Restored = append(c.Restored, fmt.Sprintf("%s+%#x", m.Path, trap.Start))
	}
	return nil
}

// leftBehind returns the length of a left-behind breakpoint at the start of now, or 0 if there is none. There is one if
// the file has another instruction at vaddr, as far as can be determined without the function it belongs to.
func leftBehind(m *module.Loaded, a *abi.ABI, now []byte, vaddr uint64) int {
	code, err := m.File.Code(vaddr, isa.LongestInsn)
	set := a.SetAt(m, m.Addr(vaddr))
	if err != nil || set == nil {
		return 0
	}
	in, err := set.Decode(code, vaddr)
	if err != nil {
		return 0
	}
	trap := set.Breakpoint(in)
	if !bytes.HasPrefix(now, trap) || bytes.HasPrefix(code, trap) {
		return 0
	}
	return len(trap)
}
