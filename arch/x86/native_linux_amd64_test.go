package x86

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"unsafe"

	"gotap/arch"
	"gotap/engine/testenv"
	"gotap/engine/testenv/fixture"
)

// The reference: a small child that the processor steps through one instruction at a time.

// The memory of the child. Instructions may access the window: half data, half stack.
const (
	nativeCode = 0x13370800
	nearSlot   = 0x13470800
	farSlot64  = 0x6f0000000800
	farSlot32  = 0xe0000800
	window     = 0x20000000
	windowLen  = 0x2000
	stackTop   = window + 0x1800
)

const childSource = `
static long map(unsigned long addr) {
#ifdef __x86_64__
	register long r10 __asm__("r10") = 0x32, r8 __asm__("r8") = -1, r9 __asm__("r9") = 0;
	long r;
	__asm__ volatile("syscall" : "=a"(r) : "0"(9), "D"(addr), "S"(0x2000), "d"(7), "r"(r10), "r"(r8), "r"(r9) : "rcx", "r11", "memory");
	return r;
#else
	unsigned args[6] = {addr, 0x2000, 7, 0x32, -1, 0};
	long r;
	__asm__ volatile("int $0x80" : "=a"(r) : "0"(90), "b"(args) : "memory");
	return r;
#endif
}
void _start(void) {
	map(0x13370000); map(0x13470000); map(0x20000000);
#ifdef __x86_64__
	map(0x6f0000000000);
#else
	map(0xe0000000);
#endif
#ifndef __x86_64__
	struct { unsigned entry, base, limit, flags; } tls = {-1, 0x100, 0xfffff, 0x51};
	long r;
	__asm__ volatile("int $0x80" : "=a"(r) : "0"(243), "b"(&tls) : "memory"); /* set_thread_area */
	__asm__ volatile("mov %w0, %%gs" : : "r"(tls.entry * 8 + 3));
#endif
	for (;;) __asm__ volatile("int3");
}
`

// child is a traced process that is stopped between steps.
type child struct {
	t        testing.TB
	isa      *isa
	pid      int
	mem      *os.File
	base     arch.Regs        // the registers it stopped with
	xstate   []byte           // and its vector state
	pattern  []byte           // the contents of the window before every step
	features map[feature]bool // those tested so far
}

func (c *child) farSlot() uint64 {
	if c.isa.long {
		return farSlot64
	}
	return farSlot32
}

// newChild builds and starts the child. It locks the test to its thread, which is the tracer.
func newChild(t testing.TB, m *isa) *child {
	testenv.Require(t, testenv.AMD64, testenv.GCC, testenv.Ptrace)
	if !m.long {
		testenv.Require(t, testenv.M32, testenv.IA32)
	}
	dir := t.TempDir()
	src, exe := filepath.Join(dir, "child.c"), filepath.Join(dir, "child")
	if err := os.WriteFile(src, []byte(childSource), 0o600); err != nil {
		t.Fatal(err)
	}
	bits := "-m32"
	if m.long {
		bits = "-m64"
	}
	if out, err := fixture.Command("gcc", bits, "-O1", "-fno-stack-protector", "-nostdlib", "-static", "-o", exe, src).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	c := &child{t: t, isa: m, pattern: make([]byte, windowLen), features: map[feature]bool{}}
	runtime.LockOSThread()
	pid, err := syscall.ForkExec(exe, []string{exe}, &syscall.ProcAttr{Sys: &syscall.SysProcAttr{Ptrace: true, Pdeathsig: syscall.SIGKILL}})
	if err != nil {
		t.Fatal(err)
	}
	c.pid = pid
	t.Cleanup(c.kill)
	c.wait() // the stop of exec
	c.resume(syscall.PTRACE_CONT)
	if sig := c.wait(); sig != syscall.SIGTRAP {
		t.Fatalf("child stopped with %v", sig)
	}
	c.mem, err = os.OpenFile(fmt.Sprintf("/proc/%d/mem", pid), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	c.base = c.regs()
	c.xstate = c.vectors()
	for i := range 16 * 16 { // xmm and the upper halves of ymm: any bytes, many of them finite numbers
		c.xstate[160+i] = byte(i * 37)
		if c.xstate[xstateHeader] |= 3; len(c.xstate) > 576+256 {
			c.xstate[576+i], c.xstate[xstateHeader] = byte(i*91), 7
		}
	}
	return c
}

func (c *child) kill() {
	if c.mem != nil {
		c.mem.Close()
	}
	syscall.Kill(c.pid, syscall.SIGKILL)
	var ws syscall.WaitStatus
	syscall.Wait4(c.pid, &ws, syscall.WALL, nil)
	runtime.UnlockOSThread()
}

// wait returns the signal of the next stop.
func (c *child) wait() syscall.Signal {
	var ws syscall.WaitStatus
	if _, err := syscall.Wait4(c.pid, &ws, syscall.WALL, nil); err != nil || !ws.Stopped() {
		c.t.Fatalf("child is gone: %v %#x", err, ws)
	}
	return ws.StopSignal()
}

func (c *child) ptrace(req, addr uintptr, data unsafe.Pointer) {
	if _, _, e := syscall.RawSyscall6(syscall.SYS_PTRACE, req, uintptr(c.pid), addr, uintptr(data), 0, 0); e != 0 {
		c.t.Fatalf("ptrace %#x: %v", req, e)
	}
}

func (c *child) resume(req uintptr) { c.ptrace(req, 0, nil) }

func (c *child) regs() (r arch.Regs) {
	c.ptrace(syscall.PTRACE_GETREGS, 0, unsafe.Pointer(&r))
	return r
}

func (c *child) setRegs(r *arch.Regs) {
	r[OrigRAX] = ^uint64(0)
	c.ptrace(syscall.PTRACE_SETREGS, 0, unsafe.Pointer(r))
}

const (
	ptraceGetRegSet = 0x4204
	ptraceSetRegSet = 0x4205
	ntX86XState     = 0x202
	xstateHeader    = 512 // offset of the bitmap of valid parts
)

func (c *child) vectors() []byte {
	buf := make([]byte, 16<<10)
	iov := syscall.Iovec{Base: &buf[0], Len: uint64(len(buf))}
	c.ptrace(ptraceGetRegSet, ntX86XState, unsafe.Pointer(&iov))
	return buf[:iov.Len]
}

func (c *child) setVectors(b []byte) {
	iov := syscall.Iovec{Base: &b[0], Len: uint64(len(b))}
	c.ptrace(ptraceSetRegSet, ntX86XState, unsafe.Pointer(&iov))
}

// WriteMemory and ReadMemory make the child an arch.Memory.
func (c *child) WriteMemory(addr uint64, p []byte) error {
	if _, err := c.mem.WriteAt(p, int64(addr)); err != nil {
		return &arch.FaultError{Addr: addr, Write: true}
	}
	return nil
}

func (c *child) ReadMemory(addr uint64, p []byte) error {
	if _, err := c.mem.ReadAt(p, int64(addr)); err != nil {
		return &arch.FaultError{Addr: addr}
	}
	return nil
}

// outcome is everything that an instruction can change.
type outcome struct {
	regs    arch.Regs
	sig     syscall.Signal // 0 when it ran
	code    int32          // of the signal
	addr    uint64         // of the fault
	window  []byte
	vectors []byte // of vector instructions only
}

// repeats reports a repeated string instruction, which takes one step for each iteration.
func (c *child) repeats(code []byte) bool {
	in, err := decodeInst(code, c.isa.long)
	return err == nil && in.rep != 0 && in.enc == legacy && in.opmap == mapLegacy && (in.opcode>>4 == 0xa || in.opcode>>2 == 0x6c>>2)
}

// step writes the code to an address, and steps from regs until the instruction is done or a signal arrives.
func (c *child) step(code []byte, at uint64, regs arch.Regs, vectors bool) outcome {
	padded := append(append(make([]byte, 0, 64), code...), bytes.Repeat([]byte{0x90}, 20)...)
	c.must(c.WriteMemory(at, padded))
	c.must(c.WriteMemory(window, c.pattern))
	if vectors {
		c.setVectors(c.xstate)
	}
	c.setRegs(&regs)
	var out outcome
	for range 200 {
		c.resume(syscall.PTRACE_SINGLESTEP)
		out.sig = c.wait()
		out.regs = c.regs()
		if out.sig != syscall.SIGTRAP || out.regs[RIP] != at || !c.repeats(code) {
			break
		}
	}
	if out.sig == syscall.SIGTRAP {
		out.sig = 0
	} else {
		out.code, out.addr = c.fault()
	}
	return out
}

// finish reads the rest of an outcome.
func (c *child) finish(out *outcome, vectors bool) {
	out.window = make([]byte, windowLen)
	c.must(c.ReadMemory(window, out.window))
	if vectors {
		out.vectors = c.vectors()
	}
	out.regs[OrigRAX] = 0
	out.regs[EFLAGS] &^= flagRF // of a fault
}

func (c *child) must(err error) {
	if err != nil {
		c.t.Fatal(err)
	}
}

// native runs an instruction at its address. pushf is not stepped but run up to a breakpoint: a step would push its
// own trap flag.
func (c *child) native(code []byte, regs arch.Regs, vectors bool) outcome {
	regs[RIP] = nativeCode
	if in, _ := decodeInst(code, c.isa.long); in.is(mapLegacy, 0x9c) {
		return c.run(code, regs)
	}
	out := c.step(code, nativeCode, regs, vectors)
	c.finish(&out, vectors)
	return out
}

// run resumes the child with regs until a breakpoint behind the instruction.
func (c *child) run(code []byte, regs arch.Regs) outcome {
	c.must(c.WriteMemory(nativeCode, append(bytes.Clone(code), 0xcc)))
	c.must(c.WriteMemory(window, c.pattern))
	c.setRegs(&regs)
	c.resume(syscall.PTRACE_CONT)
	sig := c.wait()
	out := outcome{regs: c.regs(), sig: sig}
	if sig == syscall.SIGTRAP {
		out.regs[RIP]--
		out.sig = 0
	}
	c.finish(&out, false)
	return out
}

// clearFlags has the child pop plain flags, without a step. The kernel does not let tracers change the ID flag, and
// after a stepped popf it cannot distinguish the program's trap flag from its own until the child has run freely.
func (c *child) clearFlags() {
	regs := c.base
	regs[RIP], regs[RSP] = nativeCode, stackTop
	if out := c.run([]byte{0x6a, 0x02, 0x9d}, regs); out.sig != 0 { // push $2; popf
		c.t.Fatalf("child stopped with %v", out.sig)
	}
}

// displaced runs the copy of a prepared instruction at a slot, and repairs the result.
func (c *child) displaced(s arch.Site, slot uint64, regs arch.Regs, vectors bool) (outcome, error) {
	code, err := s.OutOfLine(slot)
	if err != nil {
		return outcome{}, err
	}
	if len(code) > c.isa.SlotSize() {
		return outcome{}, fmt.Errorf("the copy has %d bytes", len(code))
	}
	regs[RIP] = nativeCode
	st := s.BeforeStep(&regs, slot)
	out := c.step(code, slot, regs, vectors)
	done, err := s.AfterStep(&out.regs, c, slot, st)
	if f := s.(arch.FloatSite); vectors && f.LeavesAddress() {
		if image := c.vectors(); f.RepairAddress(image, slot) {
			c.setVectors(image)
		}
	}
	toItself := s.Insn().Target == nativeCode && out.regs[RIP] == nativeCode
	if done != (out.regs[RIP] != nativeCode) && !toItself {
		err = fmt.Errorf("done is %v at %#x", done, out.regs[RIP])
	}
	c.finish(&out, vectors)
	return out, err
}

// image is the child's memory for emulation: the window and the code.
type image struct{ window, code []byte }

func (m *image) at(addr uint64, n int) []byte {
	for base, b := range map[uint64][]byte{window: m.window, nativeCode: m.code} {
		if off := addr - base; off < uint64(len(b)) && off+uint64(n) <= uint64(len(b)) {
			return b[off : off+uint64(n)]
		}
	}
	return nil
}

func (m *image) ReadMemory(addr uint64, p []byte) error {
	b := m.at(addr, len(p))
	if b == nil {
		return &arch.FaultError{Addr: addr}
	}
	copy(p, b)
	return nil
}

func (m *image) WriteMemory(addr uint64, p []byte) error {
	b := m.at(addr, len(p))
	if b == nil {
		return &arch.FaultError{Addr: addr, Write: true}
	}
	copy(b, p)
	return nil
}

// emulated runs an instruction through Emulate.
func (c *child) emulated(s arch.Site, regs arch.Regs) (outcome, error) {
	in := s.Insn()
	m := &image{window: bytes.Clone(c.pattern), code: append(in.Bytes[:in.Len:in.Len], bytes.Repeat([]byte{0x90}, 20)...)}
	regs[RIP] = nativeCode
	before := regs
	err := s.Emulate(&regs, m)
	if err != nil && (regs != before || !bytes.Equal(m.window, c.pattern)) {
		return outcome{}, fmt.Errorf("changed something although it failed: %w", err)
	}
	regs[OrigRAX] = 0
	return outcome{regs: regs, window: m.window}, err
}

// cpuInfo returns the kernel's description of the processor.
func cpuInfo() []byte {
	b, _ := os.ReadFile("/proc/cpuinfo")
	return b
}

// differ describes how two outcomes differ, or returns "". It does not compare status flags in loose.
func differ(want, got *outcome, loose uint64) string {
	var b bytes.Buffer
	if want.sig != got.sig {
		fmt.Fprintf(&b, " signal %v, not %v;", got.sig, want.sig)
	}
	for i := range NumRegs {
		w, g := want.regs[i], got.regs[i]
		if i == EFLAGS {
			w, g = w&^loose, g&^loose
		}
		if w != g {
			fmt.Fprintf(&b, " register %s %#x, not %#x;", regName(i), g, w)
		}
	}
	for i := 0; i+8 <= windowLen; i += 8 {
		if w, g := want.window[i:i+8], got.window[i:i+8]; !bytes.Equal(w, g) {
			fmt.Fprintf(&b, " memory at %#x %x, not %x;", window+i, binary.LittleEndian.Uint64(g), binary.LittleEndian.Uint64(w))
		}
	}
	for i := range min(len(want.vectors), len(got.vectors)) {
		inUse := i >= xstateHeader && i < xstateHeader+8 // which parts are not in their initial state; tracked lazily
		if w, g := want.vectors[i], got.vectors[i]; w != g && !inUse {
			fmt.Fprintf(&b, " vector state[%d] %#x, not %#x;", i, g, w)
		}
	}
	return b.String()
}

// regName returns a register's name, for messages.
func regName(i int) string {
	for n, r := range names64 {
		if r.index == i && r.bits == 64 && len(n) > 2 {
			return n
		}
	}
	return fmt.Sprint(i)
}
