package crashsafe

import (
	"bytes"
	"encoding/binary"
	"path/filepath"
	"slices"
	"strings"

	"gotap/arch"
	"gotap/engine/abi"
	"gotap/engine/crashsafe/fallback"
	"gotap/engine/image/module"
	"gotap/engine/linux/ptrace"
)

// This file observes the actions that the program sets for signals, by watching the functions that set them where their
// calls are not found (sites.go). See action.go.

// Watch watches the functions with which programs set signal handlers, in newly loaded modules. The
// breakpoints there have a second use: if the session has been killed and the program reaches one of them, the fallback
// removes all breakpoints at the last moment at which it can.
func (g *Guards) Watch(sp *Space, mods []module.Loaded) {
	for i := range mods {
		m := &mods[i]
		if m.File == nil || m.Err != nil {
			continue
		}
		for _, match := range m.File.Lookup("runtime.rt_sigaction") {
			if f := match.Func; calls(m, f.Addr, f.Size) {
				sp.on.Hook(m, f.Addr, on(call.goSigactionCalled))
			}
		}
		if sp.IsLibC(m) {
			g.watchLibC(sp, m)
			if !sp.tried {
				g.watchFunctions(sp, m, on(call.maskCalled), "sigprocmask", "pthread_sigmask")
			}
		}
	}
}

// watchLibC watches the calls of a C library that set masks and actions. If no calls are found that set actions, it
// watches the functions instead.
func (g *Guards) watchLibC(sp *Space, m *module.Loaded) {
	if sites := g.watchSignalCalls(sp, m); len(sites.actions) > 0 {
		return
	}
	g.watchFunctions(sp, m, on(call.sigactionCalled), sigactionNames(m.File)...)
	g.watchFunctions(sp, m, on(call.signalCalled), signalNames...)
}

// signalNames are the names of the C library's function that sets an action and returns the handler before.
var signalNames = []string{"signal", "ssignal", "bsd_signal"}

// sigactionNames returns the names of the C library's functions that set actions. glibc has an inner one, which
// posix_spawn calls.
func sigactionNames(f *module.File) []string {
	const inner = "__libc_sigaction"
	if len(f.Lookup(inner)) > 0 {
		return []string{inner}
	}
	return []string{"sigaction", "__sigaction"}
}

// IsLibC reports whether a module contains the C library, judging by its name: glibc's, current or before 2.34, or
// musl's. So does a program that is statically linked with it.
func (sp *Space) IsLibC(m *module.Loaded) bool {
	base := filepath.Base(m.Path)
	if slices.ContainsFunc([]string{"libc.so", "libc-", "ld-musl", "libc.musl"}, func(p string) bool { return strings.HasPrefix(base, p) }) {
		return true
	}
	mods := sp.on.Modules()
	return len(mods) > 0 && mods[0].Path == m.Path && !sp.on.IsLinked()
}

// call is a thread that has just entered one of the watched functions.
type call struct{ *Thread }

// on returns a hook that calls a method of call.
func on(do func(call, *Point) bool) Hook {
	return func(x *Thread, at *Point) bool { return do(call{x}, at) }
}

// watchFunctions watches all functions with the given names.
func (g *Guards) watchFunctions(sp *Space, m *module.Loaded, do Hook, names ...string) {
	for _, name := range names {
		for _, match := range m.File.Lookup(name) {
			sp.on.Hook(m, match.Func.Addr, do)
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

// sigactionCalled runs on entry to sigaction. For SIGTRAP it skips the call: it stores the program's action where the
// fallback's handler finds it, and returns the program's previous action. So the handler is installed at every moment.
// Without the fallback, the engine queries the kernel when the function has returned.
func (x call) sigactionCalled(*Point) bool {
	if !x.aboutTrap(x.pointer(1) != 0) {
		return false
	}
	act, old := x.pointer(1), x.pointer(2)
	own, ok := x.readAction(act)
	if act != 0 && !ok {
		return false
	}
	if old != 0 {
		x.writeAction(old, x.process().own)
	}
	if home, ok := x.skipped(0); act == 0 || ok && x.wantOf(own, home) {
		x.on.Skip(0)
	}
	return false
}

// skipped returns the registers with which the thread returns from the function that was just entered.
func (x call) skipped(result uint64) (home arch.Regs, ok bool) {
	home = x.t.Regs
	return home, x.t.ABI().Skip(&home, x.t.Memory(), result) == nil
}

// signalCalled is sigactionCalled for signal, which returns the previous handler.
func (x call) signalCalled(*Point) bool {
	if !x.aboutTrap(true) {
		return false
	}
	was := x.process().own.Handler
	if home, ok := x.skipped(was); ok && x.wantAtCall(x.t.ABI().Native.Simple(x.pointer(1), x.space().Base), home) == nil {
		x.on.Skip(was)
	}
	return false
}

// goSigactionCalled is sigactionCalled for the function of Go's runtime that makes the system call. Its arguments and
// its result are on the stack, and its structures are the kernel's.
func (x call) goSigactionCalled(*Point) bool {
	word := x.t.ABI().WordSize()
	mem := x.t.Memory()
	slot := func(n int) uint64 { return x.t.SP() + uint64(n*word) } // slot 0: the return address or what is saved there
	const sig, act, old, result = 1, 2, 3, 5
	number, ok := x.pointerAt(slot(sig))
	if ok && number != ptrace.SIGTRAP {
		x.on.ActionSet(int(uint32(number)))
	}
	if !ok || number != ptrace.SIGTRAP || x.space().Base == 0 {
		return false
	}
	home, ok := x.skipped(0)
	from, _ := x.pointerAt(slot(act))
	var p [fallback.ActionSize]byte
	if !ok || from != 0 && mem.Peek(from, p[:]) != nil {
		return false
	}
	if to, ok := x.pointerAt(slot(old)); ok && to != 0 {
		mem.Poke(to, x.process().own.Bytes(word), x.t.Tid)
	}
	mem.Poke(slot(result), make([]byte, 4), x.t.Tid)
	if from == 0 || x.wantAtCall(fallback.ParseAction(p[:], word), home) == nil {
		x.on.Skip(0)
	}
	return false
}

// maskCalled runs on entry to a function that sets the blocked signals of a thread, in a program without fallback. It
// installs the fallback before SIGTRAP is blocked: without it nothing would show that the thread's first hit has
// unblocked the signal. With the fallback there is nothing left to watch for, so the breakpoint is not needed any more.
func (x call) maskCalled(p *Point) (over bool) {
	const unblock = 1
	how, _ := x.on.Arg(0)
	var set [8]byte
	if x.process().Unguarded() && (uint32(how) == unblock || x.t.Memory().Peek(x.pointer(1), set[:]) != nil || binary.LittleEndian.Uint64(set[:])&ptrace.TrapBit == 0) {
		return false
	}
	if x.process().Unguarded() {
		x.ProtectAtHit(p)
	}
	return true
}

// aboutTrap reports whether the first argument of a function just entered is SIGTRAP and the fallback is installed. If
// the fallback is not installed, the next hit queries the action that the function sets. A call that sets the action
// installs the fallback.
func (x call) aboutTrap(sets bool) bool {
	sig, ok := x.on.Arg(0)
	if !ok || uint32(sig) != ptrace.SIGTRAP {
		if ok && sets {
			x.on.ActionSet(int(uint32(sig)))
		}
		return false
	}
	if x.process().Unguarded() && sets { // now: at the next hit the kernel resets an ignored signal's action
		x.ProtectAtHit(x.on.Point())
	}
	if x.space().Base != 0 && x.process().ours {
		return true
	}
	x.on.AtReturn(func(p *Process) { p.set = true })
	return false
}

// pointer returns an argument that is a pointer.
func (x call) pointer(n int) uint64 {
	v, _ := x.on.Arg(n)
	if x.t.ABI().WordSize() == 4 {
		v = uint64(uint32(v))
	}
	return v
}

// pointerAt reads a word of memory.
func (x call) pointerAt(addr uint64) (v uint64, ok bool) {
	var p [8]byte
	if x.t.Memory().Peek(addr, p[:x.t.ABI().WordSize()]) != nil {
		return 0, false
	}
	return binary.LittleEndian.Uint64(p[:]), true
}

// libMask is the size of the mask in the C library's struct sigaction, between the handler and the flags.
const libMask = 128

// readAction reads the C library's struct sigaction.
func (x call) readAction(addr uint64) (a fallback.Action, ok bool) {
	word := x.t.ABI().WordSize()
	p := make([]byte, word+libMask+4)
	if x.t.Memory().Peek(addr, p) != nil {
		return a, false
	}
	handler := uint64(binary.LittleEndian.Uint32(p))
	if word == 8 {
		handler = binary.LittleEndian.Uint64(p)
	}
	a = x.t.ABI().Native.Simple(handler, x.space().Base)
	a.Flags = a.Flags&fallback.FlagRestorer | uint64(binary.LittleEndian.Uint32(p[word+libMask:]))&^fallback.FlagRestorer
	copy(a.Mask[:], p[word:])
	return a, true
}

// writeAction writes the C library's struct sigaction. How a handler returns is the library's own affair: it chooses
// that when the program sets the action again.
func (x call) writeAction(addr uint64, a fallback.Action) {
	word := x.t.ABI().WordSize()
	p := make([]byte, word+libMask+4)
	binary.LittleEndian.PutUint32(p, uint32(a.Handler))
	if word == 8 {
		binary.LittleEndian.PutUint64(p, a.Handler)
	}
	copy(p[word:], a.Mask[:])
	binary.LittleEndian.PutUint32(p[word+libMask:], uint32(a.Flags&^fallback.FlagRestorer))
	x.t.Memory().Poke(addr, p, x.t.Tid)
}
