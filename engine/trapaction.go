package engine

import (
	"fmt"
	"path/filepath"
	"strings"

	"gotap/engine/module"
	"gotap/engine/ptrace"
)

// The target's own handling of SIGTRAP. A breakpoint or a step in a thread that blocks SIGTRAP, or whose process ignores it,
// makes the kernel unblock the signal and set its action back to the default, whether a tracer swallows the signal or
// not (force_sig_info in kernel/signal.c). Programs that do nothing with SIGTRAP do not notice. Those that have a
// handler would lose it by the first probe that is hit inside of it, or under a full signal mask.
//
// So the engine knows which processes have one: it looks when it takes up an image, and watches the C library's sigaction from
// then on. Of those it keeps what the kernel has for the signal, looks after each hit whether that is still there, and
// if not puts it, and the blocked bit, back. Other processes pay nothing.

// trapAction is a process's action for SIGTRAP, in the kernel's layout.
type trapAction struct {
	caught bool // there is a handler, which is known
	due    bool // there is one, which has to be asked for
	action [32]byte
}

// trapBit is SIGTRAP in a set of signals.
const trapBit = 1 << (ptrace.SIGTRAP - 1)

// callSigaction is the number of rt_sigaction, by word size; the size of its structure; bytes of a signal set.
var callSigaction = map[int]struct{ number, size uint64 }{8: {13, 32}, 4: {174, 20}}

// checkTrapAction looks whether the process has a handler for SIGTRAP that is not known yet.
func (p *process) checkTrapAction(tid int) {
	if !p.trap.caught && hexField(tid, "SigCgt")&trapBit != 0 {
		p.trap.due = true
	}
}

// watchSigaction watches the function by which C programs set signal handlers, in modules that are new.
func (s *Session) watchSigaction(sp *space, mods []module.Loaded) {
	for i := range mods {
		m := &mods[i]
		base := filepath.Base(m.Path)
		library := strings.HasPrefix(base, "libc.so") || strings.HasPrefix(base, "libc-") || strings.HasPrefix(base, "ld-musl") ||
			strings.HasPrefix(base, "libc.musl")
		if m.File == nil || m.Err != nil || !library && (len(sp.mods) == 0 || sp.mods[0].Path != m.Path || sp.loader.at != 0) {
			continue
		}
		for _, name := range []string{"sigaction", "__sigaction"} {
			for _, match := range m.File.Lookup(name) {
				s.watchInternally(sp, m, match.Func.Addr, (*thread).sigactionCalled)
			}
		}
	}
}

// watchInternally puts a breakpoint of the engine's own somewhere.
func (s *Session) watchInternally(sp *space, m *module.Loaded, vaddr uint64, do func(*thread, *point) bool) {
	p, err := s.pointAt(sp, m.Addr(vaddr), m)
	if err != nil || p.internal != nil {
		return
	}
	p.internal = do
	if s.sync(p) != nil {
		p.internal = nil
	}
}

// sigactionCalled runs when sigaction is entered. What it does for SIGTRAP is asked for when it returns.
func (t *thread) sigactionCalled(*point) bool {
	if sig, ok := t.Arg(0); !ok || uint32(sig) != ptrace.SIGTRAP {
		return false
	}
	f := frame{then: (*thread).fetchTrapAction, sp: t.sp()}
	if f.ret = t.awaitReturn(f.sp); f.ret != nil {
		t.frames = append(t.frames, f)
	}
	return false
}

// fetchTrapAction asks the kernel for the process's action for SIGTRAP. The thread stands at a breakpoint.
func (t *thread) fetchTrapAction() {
	p := t.proc
	p.trap = trapAction{}
	if hexField(t.tid, "SigCgt")&trapBit == 0 || t.filtered() != "" {
		return
	}
	err := t.withScratch(func(addr uint64) error {
		if err := t.callSigaction(0, addr); err != nil {
			return err
		}
		return p.space.mem.Peek(addr, p.trap.action[:])
	})
	if err != nil {
		t.s.warn(fmt.Sprintf("process %d: its handler for SIGTRAP cannot be kept: %v", p.pid, err))
		return
	}
	p.trap.caught = true
}

// restoreTrapAction puts the handler for SIGTRAP back if the kernel has taken it away. The thread has been at a
// breakpoint, and its registers are as they will go on.
func (t *thread) restoreTrapAction() {
	p := t.proc
	if p.trap.due {
		t.fetchTrapAction()
	}
	if !p.trap.caught || hexField(t.tid, "SigCgt")&trapBit != 0 {
		return
	}
	err := t.withScratch(func(addr uint64) error {
		if err := p.space.mem.Poke(addr, p.trap.action[:], t.tid); err != nil {
			return err
		}
		return t.callSigaction(addr, 0)
	})
	if err != nil {
		t.s.warn(fmt.Sprintf("process %d: its handler for SIGTRAP cannot be put back: %v", p.pid, err))
	}
	var mask uint64
	if ptrace.GetSigMask(t.tid, &mask) == 0 { // it was blocked, or the kernel would not have done it
		mask |= trapBit
		ptrace.SetSigMask(t.tid, &mask)
	}
}

// callSigaction makes the thread call rt_sigaction for SIGTRAP.
func (t *thread) callSigaction(act, old uint64) error {
	word := t.proc.arch.WordSize()
	_, err := t.inject(callNumbers[word].insn, callSigaction[word].number, ptrace.SIGTRAP, act, old, 8)
	return err
}

// withScratch lends a few bytes of the thread's stack, from below what the calling convention lets it use; they are put back.
func (t *thread) withScratch(use func(addr uint64) error) error {
	const redZone, size = 128, 64
	addr := (t.sp() - redZone - size) &^ 15
	var old [size]byte
	mem := t.proc.space.mem
	if err := mem.Peek(addr, old[:]); err != nil {
		return err
	}
	err := use(addr)
	if e := mem.Poke(addr, old[:], t.tid); err == nil {
		err = e
	}
	return err
}
