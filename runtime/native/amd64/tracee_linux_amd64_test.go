package amd64

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	goruntime "runtime"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"gotap/engine/testenv"
	"gotap/runtime/native/amd64/asm"
)

// The memory of the tracee. All of it is shared with the test, and the arena is within reach of the code.
const (
	tinyCode    = 0x400000 // what its program consists of
	codeAddr    = 0x1_0000_0000
	codeSize    = 0x40000
	controlAddr = codeAddr + codeSize // a page of its own, which can be written
	stackAddr   = controlAddr + 0x1000
	stackSize   = 0x4000
	arenaAddr   = codeAddr + 0x100_0000
)

// regFile is the register file, in the order of the kernel's struct user_regs_struct.
type regFile [27]uint64

const fileOrigRAX = 15

// tracee is a process that runs native code, and stops at every int3 and every fault.
type tracee struct {
	pid   int
	work  []byte // code, control word, stack and data
	jobs  chan func()
	ready regFile // with which it was stopped first
}

// newTracee starts a process that maps the memory files of an arena and of code. The test binary is not used, because
// its Go runtime has threads and signal handlers of its own: the process is a program of three instructions.
func newTracee(t testing.TB, arenaFD, arenaSize int) *tracee {
	testenv.Require(t, testenv.AMD64, testenv.Ptrace)
	c := &tracee{jobs: make(chan func())}
	go func() { // the only thread that may trace
		goruntime.LockOSThread()
		c.pin()
		for job := range c.jobs {
			job()
		}
	}()
	fd, err := unix.MemfdCreate("code", 0)
	if err != nil {
		t.Fatal(err)
	}
	size := codeSize + 0x1000 + stackSize + dataSize
	if err := unix.Ftruncate(fd, int64(size)); err != nil {
		t.Fatal(err)
	}
	if c.work, err = unix.Mmap(fd, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err != nil {
		t.Fatal(err)
	}
	exe := filepath.Join(t.TempDir(), "tracee")
	if err := os.WriteFile(exe, tinyProgram(), 0o700); err != nil {
		t.Fatal(err)
	}
	c.do(func() {
		c.pid, err = syscall.ForkExec(exe, []string{exe}, &syscall.ProcAttr{Files: []uintptr{0, 1, 2, uintptr(arenaFD), uintptr(fd)},
			Sys: &syscall.SysProcAttr{Ptrace: true, Pdeathsig: syscall.SIGKILL}})
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.do(c.kill); close(c.jobs); unix.Munmap(c.work); unix.Close(fd) })
	c.do(func() { c.wait(); c.ptrace(syscall.PTRACE_GETREGS, unsafe.Pointer(&c.ready)) })
	c.mmap(t, codeAddr, codeSize, unix.PROT_READ|unix.PROT_EXEC, 4, 0)
	c.mmap(t, controlAddr, 0x1000+stackSize, unix.PROT_READ|unix.PROT_WRITE, 4, codeSize)
	for i, kind := range dataPages {
		switch at := dataAddr + i*pageSize; kind {
		case readable:
			c.mmap(t, at, pageSize, unix.PROT_READ, 4, codeSize+0x1000+stackSize+i*pageSize)
		case protected:
			c.mmap(t, at, pageSize, unix.PROT_NONE, 4, codeSize+0x1000+stackSize+i*pageSize)
		case beyondFile:
			c.mmap(t, at, pageSize, unix.PROT_READ, 4, size+16*pageSize)
		}
	}
	c.mmap(t, arenaAddr, arenaSize, unix.PROT_READ|unix.PROT_WRITE, 3, 0)
	return c
}

// tinyProgram is an ELF file of a system call and a breakpoint.
func tinyProgram() []byte {
	var b bytes.Buffer
	text := []byte{0x0f, 0x05, 0xcc}
	for _, v := range []any{
		[16]byte{0x7f, 'E', 'L', 'F', 2, 1, 1}, uint16(2), uint16(62), uint32(1), uint64(tinyCode + 120), uint64(64), uint64(0),
		uint32(0), uint16(64), uint16(56), uint16(1), [3]uint16{},
		uint32(1), uint32(5), uint64(0), uint64(tinyCode), uint64(tinyCode), uint64(120 + len(text)), uint64(120 + len(text)), uint64(0x1000),
		text,
	} {
		binary.Write(&b, binary.LittleEndian, v)
	}
	return b.Bytes()
}

// pin lets the tracing thread, and the process that it starts, run on one processor: a stop is then a switch, and no
// other processor has to be woken.
func (c *tracee) pin() {
	var all, one unix.CPUSet
	if unix.SchedGetaffinity(0, &all) != nil {
		return
	}
	for n, skip := 0, os.Getpid()%all.Count(); one.Count() == 0; n++ {
		if all.IsSet(n) {
			if skip == 0 {
				one.Set(n)
			}
			skip--
		}
	}
	unix.SchedSetaffinity(0, &one)
}

// free undoes pin for the tracee.
func (c *tracee) free() {
	var all unix.CPUSet
	for n := range 1024 {
		all.Set(n)
	}
	unix.SchedSetaffinity(c.pid, &all)
}

// do runs f on the tracing thread.
func (c *tracee) do(f func()) {
	done := make(chan struct{})
	c.jobs <- func() { defer close(done); f() }
	<-done
}

func (c *tracee) ptrace(req uintptr, data unsafe.Pointer) {
	if _, _, e := syscall.RawSyscall6(syscall.SYS_PTRACE, req, uintptr(c.pid), 0, uintptr(data), 0, 0); e != 0 && e != syscall.ESRCH {
		panic(e)
	}
}

func (c *tracee) wait() syscall.WaitStatus {
	var ws syscall.WaitStatus
	for {
		if _, err := syscall.Wait4(c.pid, &ws, syscall.WALL, nil); err != syscall.EINTR {
			return ws
		}
	}
}

func (c *tracee) kill() {
	syscall.Kill(c.pid, syscall.SIGKILL)
	for ws := c.wait(); !ws.Exited() && !ws.Signaled(); ws = c.wait() {
	}
}

// mmap makes the tracee map a file.
func (c *tracee) mmap(t testing.TB, addr, size, prot, fd, off int) {
	t.Helper()
	regs := c.ready
	regs[fileIndex[asm.RAX]], regs[fileIndex[asm.RDI]], regs[fileIndex[asm.RSI]], regs[fileIndex[asm.RDX]] = unix.SYS_MMAP, uint64(addr), uint64(size), uint64(prot)
	regs[fileIndex[asm.R10]], regs[fileIndex[asm.R8]], regs[fileIndex[asm.R9]] = unix.MAP_SHARED|unix.MAP_FIXED, uint64(fd), uint64(off)
	regs[fileRIP] = tinyCode + 120
	c.do(func() { c.run(&regs) })
	if got := regs[fileIndex[asm.RAX]]; got != uint64(addr) {
		t.Fatalf("mmap at %#x: %d", addr, int64(got))
	}
}

// patience is how long native code may take in a test.
const patience = 2 * time.Minute

// run lets the tracee run with registers until it stops, and returns the registers and the signal. Code that does not
// end is killed. Only the tracing thread may call it.
func (c *tracee) run(regs *regFile) (sig syscall.Signal) { return c.resume(regs, syscall.PTRACE_CONT) }

// step executes one instruction.
func (c *tracee) step(regs *regFile) syscall.Signal { return c.resume(regs, syscall.PTRACE_SINGLESTEP) }

func (c *tracee) resume(regs *regFile, how uintptr) syscall.Signal {
	regs[fileOrigRAX] = ^uint64(0)
	late := time.AfterFunc(patience, func() { syscall.Kill(c.pid, syscall.SIGKILL) })
	defer late.Stop()
	c.ptrace(syscall.PTRACE_SETREGS, unsafe.Pointer(regs))
	c.ptrace(how, nil)
	ws := c.wait()
	if !ws.Stopped() {
		return syscall.SIGKILL
	}
	c.ptrace(syscall.PTRACE_GETREGS, unsafe.Pointer(regs))
	return ws.StopSignal()
}

// code, control and stack are the parts of the memory that the test shares with the tracee.
func (c *tracee) code() []byte  { return c.work[:codeSize] }
func (c *tracee) stack() []byte { return c.work[codeSize+0x1000:][:stackSize] }
func (c *tracee) data() []byte  { return c.work[codeSize+0x1000+stackSize:] }

func (c *tracee) setControl(v uint32) { binary.LittleEndian.PutUint32(c.work[codeSize:], v) }

// words returns words of the stack from an address upwards.
func (c *tracee) words(addr uint64, n int) []uint64 {
	list := make([]uint64, n)
	for i := range list {
		list[i] = binary.LittleEndian.Uint64(c.stack()[addr-stackAddr+uint64(8*i):])
	}
	return list
}
