package engine

import (
	"bytes"
	"encoding/binary"
	"path/filepath"
	"slices"
	"strings"

	"gotap/engine/abi"
	"gotap/engine/crashsafe/fallback"
	"gotap/engine/image/module"
	"gotap/engine/linux/ptrace"
	"gotap/engine/registry/retprobe"
)

// This file observes the actions that the program sets for signals, by watching the functions that set them. See
// trapaction.go.

// watchSigaction watches the functions with which programs set signal handlers, in newly loaded modules. The
// breakpoints there have a second use: if the session has been killed and the program reaches one of them, the fallback
// removes all breakpoints at the last moment at which it can.
func (y *guards) watchSigaction(sp *space, mods []module.Loaded) {
	for i := range mods {
		m := &mods[i]
		if m.File == nil || m.Err != nil {
			continue
		}
		for _, match := range m.File.Lookup("runtime.rt_sigaction") {
			if f := match.Func; calls(m, f.Addr, f.Size) {
				y.watchInternally(sp, m, f.Addr, (*thread).goSigactionCalled)
			}
		}
		if isLibC(m.Path) || sp.isStatic(m) {
			sites := y.watchSignalCalls(sp, m)
			if len(sites.actions) == 0 {
				y.watchFunctions(sp, m, (*thread).sigactionCalled, "sigaction", "__sigaction")
				y.watchFunctions(sp, m, (*thread).signalCalled, "signal", "ssignal", "bsd_signal")
			}
			y.watchFunctions(sp, m, (*thread).ptraceCalled, "ptrace")
			if !sp.guard.tried {
				y.watchFunctions(sp, m, (*thread).maskCalled, "sigprocmask", "pthread_sigmask")
			}
		}
	}
}

// isLibC reports whether a file is the C library, judging by its name: glibc's, current or before 2.34, or musl's.
func isLibC(path string) bool {
	base := filepath.Base(path)
	return slices.ContainsFunc([]string{"libc.so", "libc-", "ld-musl", "libc.musl"}, func(p string) bool { return strings.HasPrefix(base, p) })
}

// isStatic reports whether a module is the program itself, statically linked with the C library.
func (sp *space) isStatic(m *module.Loaded) bool {
	return len(sp.mods) > 0 && sp.mods[0].Path == m.Path && sp.loader.at == 0
}

// watchFunctions watches all functions with the given names.
func (y *guards) watchFunctions(sp *space, m *module.Loaded, do func(*thread, *point) bool, names ...string) {
	for _, name := range names {
		for _, match := range m.File.Lookup(name) {
			y.watchInternally(sp, m, match.Func.Addr, do)
		}
	}
}

// calls reports whether a function contains the instruction that calls the kernel. Of Go's assembly function and its
// wrapper, only the assembly function does.
func calls(m *module.Loaded, vaddr, size uint64) bool {
	code, err := m.File.Code(vaddr, int(min(size, 128)))
	a := abi.Of(m.File)
	return err == nil && a != nil && a.Golang != nil && bytes.Contains(code, a.Calls.Insn)
}

// watchInternally sets one of the engine's own breakpoints.
func (y *guards) watchInternally(sp *space, m *module.Loaded, vaddr uint64, do func(*thread, *point) bool) {
	p, err := y.s.patcher.pointAt(sp, m.Addr(vaddr), m)
	if err != nil || p.internal != nil {
		return
	}
	p.internal = do
	if y.s.patcher.sync(p) != nil {
		p.internal = nil
	}
}

// sigactionCalled runs on entry to sigaction. For SIGTRAP it skips the call: it stores the program's action where the
// fallback's handler finds it, and returns the program's previous action. So the handler is installed at every moment.
// Without the fallback, the engine queries the kernel when the function has returned.
func (t *thread) sigactionCalled(*point) bool {
	if !t.aboutTrap(t.pointer(1) != 0) {
		return false
	}
	act, old := t.pointer(1), t.pointer(2)
	was := t.proc.trap.own
	if act != 0 {
		own, ok := t.sigtrap.readAction(act)
		if !ok || t.sigtrap.wantAtCall(own) != nil {
			return false
		}
	}
	if old != 0 {
		t.sigtrap.writeAction(old, was)
	}
	t.h.Skip, t.h.SkipResult = true, 0
	return false
}

// signalCalled is sigactionCalled for signal, which returns the previous handler.
func (t *thread) signalCalled(*point) bool {
	if !t.aboutTrap(true) {
		return false
	}
	was := t.proc.trap.own
	if t.sigtrap.wantAtCall(fallback.Simple(t.pointer(1), t.proc.space.guard.Base)) == nil {
		t.h.Skip, t.h.SkipResult = true, was.Handler
	}
	return false
}

// goSigactionCalled is sigactionCalled for the function of Go's runtime that makes the system call. Its arguments and
// its result are on the stack, and its structures are the kernel's.
func (t *thread) goSigactionCalled(*point) bool {
	word := t.proc.arch.WordSize()
	sp, mem := t.proc.space, t.proc.space.mem
	slot := func(n int) uint64 { return t.SP() + uint64(n*word) } // slot 0: the return address or what is saved there
	const sig, act, old, result = 1, 2, 3, 5
	number, ok := sp.Pointer(slot(sig))
	if !ok || number != ptrace.SIGTRAP || sp.guard.Base == 0 {
		return false
	}
	was := t.proc.trap.own
	if at, ok := sp.Pointer(slot(act)); ok && at != 0 {
		var p [fallback.ActionSize]byte
		if mem.Peek(at, p[:]) != nil || t.sigtrap.wantAtCall(fallback.ParseAction(p[:], word)) != nil {
			return false
		}
	}
	if at, ok := sp.Pointer(slot(old)); ok && at != 0 {
		mem.Poke(at, was.Bytes(word), t.Tid)
	}
	mem.Poke(slot(result), make([]byte, 4), t.Tid)
	t.h.Skip, t.h.SkipResult = true, 0
	return false
}

// maskCalled runs on entry to a function that sets the blocked signals of a thread, in a program without fallback. It
// installs the fallback before SIGTRAP is blocked: without it nothing would show that the thread's first hit has
// unblocked the signal. With the fallback there is nothing left to watch for, so maskCalled removes its breakpoint.
func (t *thread) maskCalled(p *point) bool {
	const unblock = 1
	sp := t.proc.space
	how, _ := t.view.Arg(0)
	var set [8]byte
	if t.proc.unguarded() && (uint32(how) == unblock || sp.mem.Peek(t.pointer(1), set[:]) != nil || binary.LittleEndian.Uint64(set[:])&ptrace.TrapBit == 0) {
		return false
	}
	if t.proc.unguarded() {
		t.protection.protectAtHit(p)
	}
	p.internal = nil
	t.s.patcher.sync(p)
	return false
}

// aboutTrap reports whether the first argument of a function just entered is SIGTRAP and the fallback is installed. If
// the fallback is not installed, the next hit queries the action that the function sets. A call that sets the action
// installs the fallback.
func (t *thread) aboutTrap(sets bool) bool {
	sig, ok := t.view.Arg(0)
	if !ok || uint32(sig) != ptrace.SIGTRAP {
		return false
	}
	if t.proc.unguarded() && sets { // now: at the next hit the kernel resets an ignored signal's action
		t.protection.protectAtHit(t.at)
	}
	if t.proc.space.guard.Base != 0 && t.proc.trap.ours {
		return true
	}
	t.calls.Await(func(by retprobe.Target) { by.(*view).t.proc.trap.set = true })
	return false
}

// pointer returns an argument that is a pointer.
func (t *thread) pointer(n int) uint64 {
	v, _ := t.view.Arg(n)
	if t.proc.arch.WordSize() == 4 {
		v = uint64(uint32(v))
	}
	return v
}
