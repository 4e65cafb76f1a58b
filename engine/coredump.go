package engine

import (
	"fmt"
	"os"

	"gotap/engine/linux/coredump"
	"gotap/engine/linux/procfs"
	"gotap/engine/linux/ptrace"
)

// dump writes a core of the thread's process and lets the process continue. All its threads are stopped meanwhile. The
// thread is stopped, and its registers are those it continues with. The core shows the thread with the registers of the
// program that asked: at the probed instruction, although that has completed, because it may have been a jump out of
// the function.
func (w *view) dump(regs []uint64) {
	var name [16]byte
	path, size, err := writeCore(w.t, regs, string(name[:w.readComm(name[:])]))
	if err != nil {
		err = fmt.Errorf("cannot write a core of process %d: %w", w.t.proc.pid, err)
	}
	if w.t.s.cfg.Dumped != nil {
		w.t.s.cfg.Dumped(w.t.proc.pid, path, size, err)
	}
}

// writeCore writes a core that shows a thread first, with the given registers. It removes the rest of a failed one.
func writeCore(t *thread, regs []uint64, name string) (path string, size int64, err error) {
	held := t.s.world.holdWorld(t)
	defer t.s.world.releaseWorld(held)
	p, err := coredump.Describe(t.proc.pid, t.proc.arch.WordSize())
	if err != nil {
		return "", 0, err
	}
	p.Machine = t.proc.arch.Machine
	first, _ := t.view.coreThread()
	copy(first.Regs[:], regs)
	p.Threads = append(p.Threads, first)
	for _, o := range t.proc.threads {
		if o == t {
			continue
		}
		if c, ok := o.view.coreThread(); ok {
			p.Threads = append(p.Threads, c)
		}
	}
	p.Read = t.proc.space.Peek
	f, err := coredump.Create(t.s.cfg.CoreDir, name, t.Tid)
	if err != nil {
		return "", 0, err
	}
	size, err = coredump.Write(f, p)
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return f.Name(), size, err
}

// coreThread returns a thread for a core. ok is false if the thread is not stopped. A thread in the middle of an
// out-of-line step is shown at the instruction that it steps. A thread that has hit a breakpoint which is not handled
// yet is shown at that instruction.
func (w *view) coreThread() (c coredump.Thread, ok bool) {
	c = coredump.Thread{Tid: w.t.Tid, Pending: procfs.SignalSet(w.t.Tid, "SigPnd"), Blocked: procfs.SignalSet(w.t.Tid, "SigBlk")}
	if e := ptrace.GetRegs(w.t.Tid, &c.Regs); e != 0 {
		return c, false
	}
	pc := &c.Regs[w.t.proc.arch.PC()]
	switch {
	case w.t.exec.step.active:
		if off := *pc - w.t.exec.step.slot; off <= uint64(w.t.exec.step.p.Length) {
			*pc = w.t.exec.step.p.Addr + off
		}
	case w.t.state.MayRun() && w.t.proc.arch.TrapBehind:
		if p := w.t.proc.space.ByAddr[*pc-1]; p != nil && p.Planted {
			*pc--
		}
	}
	if mask, differs := w.t.queue.KeptMask(); differs {
		c.Blocked = mask
	}
	var fp ptrace.FPRegs
	if n, e := ptrace.GetFPRegs(w.t.Tid, &fp, w.t.proc.arch.WordSize()); e == 0 {
		c.Float = fp[:n]
	}
	return c, true
}
