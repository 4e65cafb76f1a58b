package engine

import (
	"fmt"

	"gotap/engine/linux/coredump"
	"gotap/engine/linux/procfs"
	"gotap/engine/linux/ptrace"
	"gotap/runtime"
)

// dump writes a core of the thread's process and lets the process continue. All its threads are stopped meanwhile. The
// thread is stopped, and its registers are those it continues with. The core shows the thread with the registers of the
// program that asked: at the probed instruction, although that has completed, because it may have been a jump out of
// the function.
func (t *thread) dump(regs []uint64) {
	var name [16]byte
	path, size, err := writeCore(t, regs, string(name[:t.view.Text(runtime.TextComm, name[:])]))
	if err != nil {
		err = fmt.Errorf("cannot write a core of process %d: %w", t.proc.pid, err)
	}
	if t.s.cfg.Dumped != nil {
		t.s.cfg.Dumped(t.proc.pid, path, size, err)
	}
}

// writeCore writes a core that shows a thread first, with the given registers.
func writeCore(t *thread, regs []uint64, name string) (path string, size int64, err error) {
	held := t.s.world.holdWorld(t)
	defer t.s.world.releaseWorld(held)
	p, err := coredump.Describe(t.proc.pid, t.proc.arch.WordSize())
	if err != nil {
		return "", 0, err
	}
	p.Machine = t.proc.arch.Machine
	first, _ := t.coreThread()
	copy(first.Regs[:], regs)
	p.Threads = append(p.Threads, first)
	for _, o := range t.proc.threads {
		if o == t {
			continue
		}
		if c, ok := o.coreThread(); ok {
			p.Threads = append(p.Threads, c)
		}
	}
	p.Read = t.proc.space.Peek
	return coredump.Save(t.s.cfg.CoreDir, name, t.Tid, p)
}

// coreThread returns a thread for a core. ok is false if the thread is not stopped. A thread in the middle of an
// out-of-line step is shown at the instruction that it steps. A thread that has hit a breakpoint which is not handled
// yet is shown at that instruction.
func (t *thread) coreThread() (c coredump.Thread, ok bool) {
	c = coredump.Thread{Tid: t.Tid, Pending: procfs.SignalSet(t.Tid, "SigPnd"), Blocked: procfs.SignalSet(t.Tid, "SigBlk")}
	if e := ptrace.GetRegs(t.Tid, &c.Regs); e != 0 {
		return c, false
	}
	pc := &c.Regs[t.proc.arch.PC()]
	switch {
	case t.exec.IsActive():
		*pc = t.exec.Origin(*pc)
	case t.state.MayRun() && t.proc.arch.TrapBehind:
		if p := t.proc.space.ByAddr[*pc-1]; p != nil && p.Planted {
			*pc--
		}
	}
	if mask, differs := t.queue.KeptMask(); differs {
		c.Blocked = mask
	}
	var fp ptrace.FPRegs
	if n, e := ptrace.GetFPRegs(t.Tid, &fp, t.proc.arch.WordSize()); e == 0 {
		c.Float = fp[:n]
	}
	return c, true
}
