package arm64

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	command "os/exec"
	"path/filepath"
	"testing"

	"gotap/arch"
	"gotap/engine/testenv"
)

// TestProgram runs a statically linked program by the emulator alone, from its first instruction to its exit, and
// compares its output with that of the processor.
func TestProgram(t *testing.T) {
	testenv.Require(t, testenv.GCCARM64, testenv.QEMUARM64)
	path := filepath.Join(t.TempDir(), "program")
	out, err := command.Command(string(testenv.GCCARM64), "-O2", "-static", "-o", path, "testdata/program.c", "-lm").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cmd := command.Command(string(testenv.QEMUARM64), "-cpu", "max,sve=off,sme=off,pauth=off", path)
	want, _ := cmd.Output() // the program's exit status is part of the comparison
	p := newProcess(t, path)
	for p.exited < 0 {
		p.step(t)
	}
	t.Logf("%d instructions", p.steps)
	if !bytes.Equal(p.output, want) || p.exited != cmd.ProcessState.ExitCode() {
		t.Errorf("exit status %d, want %d; output:\n%s\nwant:\n%s", p.exited, cmd.ProcessState.ExitCode(), p.output, want)
	}
}

// process is a program's memory and its one thread.
type process struct {
	pages   map[uint64]*[4096]byte
	regs    arch.Regs
	vec     arch.Vectors
	tpidr   uint64
	brk     uint64
	output  []byte
	exited  int // exit status, or -1
	steps   int
	decoded map[uint64]arch.Insn
}

const (
	stackTop  = 0x7fff_f000_0000
	stackSize = 1 << 20
)

func newProcess(t *testing.T, path string) *process {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p := &process{pages: map[uint64]*[4096]byte{}, exited: -1, decoded: map[uint64]arch.Insn{}}
	for _, s := range f.Progs {
		if s.Type != elf.PT_LOAD {
			continue
		}
		data := make([]byte, s.Filesz)
		if _, err := s.ReadAt(data, 0); err != nil {
			t.Fatal(err)
		}
		p.grow(s.Vaddr, s.Memsz)
		p.WriteMemory(s.Vaddr, data)
		p.brk = (s.Vaddr + s.Memsz + 4095) &^ 4095
	}
	p.grow(stackTop-stackSize, stackSize)
	p.regs[regPC] = f.Entry
	p.start(f)
	return p
}

// start writes what the kernel puts on the stack: arguments, environment, auxiliary vector.
func (p *process) start(f *elf.File) {
	const name, random = stackTop - 64, stackTop - 32
	p.WriteMemory(name, []byte("program\x00"))
	const hwcap = 1<<0 | 1<<1 | 1<<8 // fp, asimd, atomics
	words := []uint64{
		1, name, 0, 0,
		3, f.Progs[0].Vaddr + 64, 4, 56, 5, uint64(len(f.Progs)), 6, 4096, 9, f.Entry, 16, hwcap, 25, random, 0, 0,
	}
	sp := uint64(stackTop - 4096)
	for i, w := range words {
		p.WriteMemory(sp+8*uint64(i), binary.LittleEndian.AppendUint64(nil, w))
	}
	p.regs[regSP] = sp
}

// grow maps zeroed pages.
func (p *process) grow(addr, size uint64) {
	for at := addr &^ 4095; at < addr+size; at += 4096 {
		if p.pages[at] == nil {
			p.pages[at] = new([4096]byte)
		}
	}
}

// step runs one instruction.
func (p *process) step(t *testing.T) {
	pc := p.regs[regPC]
	in, ok := p.decoded[pc]
	if !ok {
		var code [4]byte
		err := p.ReadMemory(pc, code[:])
		if err == nil {
			in, err = A64.Decode(code[:], pc)
		}
		if err != nil {
			t.Fatalf("after %d instructions at %#x: %v", p.steps, pc, err)
		}
		p.decoded[pc] = in
	}
	if p.steps++; p.steps > 20_000_000 {
		t.Fatalf("the program does not end; it is at %#x", pc)
	}
	if in.Control == arch.Syscall {
		p.syscall(t)
		p.regs[regPC] += 4
		return
	}
	if w := in.Op.(*inst).word; ClassOf(in) == Exclusive && monitorOf(w) == closes {
		p.storeExclusive(t, w)
		return
	}
	if err := Exec(in, &p.regs, &p.vec, p); err != nil {
		t.Fatalf("after %d instructions at %#x, %s: %v", p.steps, pc, A64.Text(in.Bytes[:4], pc), err)
	}
}

// storeExclusive always succeeds, because the process has one thread. The test implements the monitor.
func (p *process) storeExclusive(t *testing.T, w uint32) {
	value := p.regs[rd(w)]
	if rd(w) == 31 {
		value = 0
	}
	data := binary.LittleEndian.AppendUint64(nil, value)
	if err := p.WriteMemory(p.regs[rn(w)], data[:accessSize(w)]); err != nil {
		t.Fatal(err)
	}
	p.regs[rm(w)] = 0
	p.regs[regPC] += 4
}

// syscall implements the few system calls that such a program needs. All others fail with ENOSYS.
func (p *process) syscall(t *testing.T) {
	const enosys = ^uint64(37)
	arg := func(n int) uint64 { return A64.SyscallArg(n, &p.regs) }
	ret := enosys
	switch A64.SyscallNumber(&p.regs) {
	case 64: // write
		data := make([]byte, arg(2))
		if err := p.ReadMemory(arg(1), data); err != nil {
			t.Fatal(err)
		}
		p.output, ret = append(p.output, data...), arg(2)
	case 66: // writev
		for i := range arg(2) {
			v := make([]byte, 16)
			p.ReadMemory(arg(1)+16*i, v)
			data := make([]byte, binary.LittleEndian.Uint64(v[8:]))
			p.ReadMemory(binary.LittleEndian.Uint64(v), data)
			p.output = append(p.output, data...)
		}
	case 226: // mprotect
		ret = 0
	case 93, 94: // exit, exit_group
		p.exited = int(arg(0) & 255)
	case 214: // brk
		if arg(0) > p.brk {
			p.grow(p.brk, arg(0)-p.brk)
			p.brk = arg(0)
		}
		ret = p.brk
	}
	p.regs[0] = ret
}

func (p *process) each(addr uint64, data []byte, write bool, move func(page, data []byte)) error {
	for len(data) > 0 {
		page := p.pages[addr&^4095]
		if page == nil {
			return &arch.FaultError{Addr: addr, Write: write}
		}
		n := min(len(data), int(4096-addr&4095))
		move(page[addr&4095:], data[:n])
		addr, data = addr+uint64(n), data[n:]
	}
	return nil
}

func (p *process) ReadMemory(addr uint64, data []byte) error {
	return p.each(addr, data, false, func(page, data []byte) { copy(data, page) })
}

func (p *process) WriteMemory(addr uint64, data []byte) error {
	return p.each(addr, data, true, func(page, data []byte) { copy(page, data) })
}

func (p *process) ReadSystem(r Register) (uint64, error) {
	switch r {
	case TPIDR:
		return p.tpidr, nil
	case DCZID:
		return 4, nil
	case CTR:
		return 0x84448004, nil
	}
	return 0, &SystemError{r}
}

func (p *process) WriteSystem(r Register, v uint64) error {
	if r != TPIDR {
		return errors.ErrUnsupported
	}
	p.tpidr = v
	return nil
}

func (p *process) MaintainCache(Operation, uint64) error { return nil }
