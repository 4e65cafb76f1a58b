package ptrace

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"

	"gotap/arch"
	"gotap/engine/procfs"
)

// Memory is the memory of one process, in two ways. ReadAt, ReadMemory and WriteMemory see it as the process itself
// does: what its page protection forbids fails. Peek and Poke go through /proc/PID/mem, which overrides protection for
// private mappings; breakpoints and slots are written that way.
//
// Peek and Poke may be called by any goroutine. The others belong to the tracing thread, because the vectors they
// use are part of the value, so that a call allocates nothing. With the zero value all of them fail.
type Memory struct {
	pid    int // the process
	tid    int // the thread that it is reached through
	mem    *os.File
	local  unix.Iovec
	remote unix.RemoteIovec
	old    [128]byte // of a write that crosses pages; no instruction writes more at once
	lazy   *lazy     // nil: no memory of it is filled in by others

	// Stack is the stack pointer of the thread that is being dealt with: pages there need not be asked for more than once.
	Stack uint64
}

const pageSize = 4096

// OpenMemory opens the memory of the process that thread tid belongs to. It stays that of the image of this moment: after
// an exec it has to be opened again.
func OpenMemory(tid int) (*Memory, error) {
	f, err := os.OpenFile(fmt.Sprintf("/proc/%d/mem", tid), os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("cannot open memory of process %d: %w", tid, err)
	}
	return &Memory{pid: procfs.Group(tid), tid: tid, mem: f, lazy: openLazy(tid)}, nil
}

// Use names a thread of the process that is alive; the memory is reached through it.
func (m *Memory) Use(tid int) { m.tid = tid }

// Close closes the memory. Calls made later fail.
func (m *Memory) Close() error {
	m.lazy.close()
	return m.mem.Close()
}

// ReadAvailable reads at addr and returns how many bytes from the start of p could be read.
// What somebody else would have to fill in first cannot.
func (m *Memory) ReadAvailable(addr uint64, p []byte) int {
	if m.lazy != nil && len(p) > 0 && !m.lazy.ready(addr, len(p), m.Stack, false) {
		p = p[:m.before(addr, len(p))]
	}
	return m.transfer(unix.SYS_PROCESS_VM_READV, addr, p)
}

// before is how many bytes at addr, of n, come before a page that somebody else fills in.
func (m *Memory) before(addr uint64, n int) int {
	for at := addr; at < addr+uint64(n); at = (at | (pageSize - 1)) + 1 {
		if !m.lazy.ready(at, 1, m.Stack, false) && m.lazy.waits(at) {
			return int(at - addr)
		}
	}
	return n
}

// Gone reports whether the address space is no process's any more: all that had it have ended, or run other programs since. The kernel
// then reads nothing and says so by the end of the file, where it says EIO of an address that is not mapped (proc(5); mem_rw in the
// kernel's fs/proc/base.c).
func (m *Memory) Gone() bool {
	var b [1]byte
	n, err := m.mem.ReadAt(b[:], pageSize)
	return n == 0 && errors.Is(err, io.EOF)
}

// ReadMemory implements arch.Memory.
func (m *Memory) ReadMemory(addr uint64, p []byte) error {
	if m.lazy != nil && !m.lazy.ready(addr, len(p), m.Stack, false) {
		return &arch.FaultError{Addr: addr}
	}
	if n := m.transfer(unix.SYS_PROCESS_VM_READV, addr, p); n != len(p) {
		return &arch.FaultError{Addr: addr + uint64(n)}
	}
	return nil
}

// WriteMemory implements arch.Memory. The kernel moves what it can before it meets a page it may not write; what a failed
// write that crosses pages has moved is put back.
func (m *Memory) WriteMemory(addr uint64, p []byte) error {
	if m.lazy != nil && !m.lazy.ready(addr, len(p), m.Stack, true) {
		return &arch.FaultError{Addr: addr, Write: true}
	}
	crosses := addr/pageSize != (addr+uint64(len(p))-1)/pageSize
	if crosses && (len(p) > len(m.old) || m.ReadAvailable(addr, m.old[:len(p)]) != len(p)) {
		return &arch.FaultError{Addr: addr, Write: true}
	}
	n := m.transfer(unix.SYS_PROCESS_VM_WRITEV, addr, p)
	if n == len(p) {
		return nil
	}
	if n > 0 && crosses {
		m.transfer(unix.SYS_PROCESS_VM_WRITEV, addr, m.old[:n])
	}
	return &arch.FaultError{Addr: addr + uint64(n), Write: true}
}

// transfer makes one process_vm_readv or process_vm_writev with vectors of one part, and returns how many bytes were moved. Why it
// were not all makes no difference to a caller: the first byte that was not moved faults.
func (m *Memory) transfer(call uintptr, addr uint64, p []byte) int {
	if len(p) == 0 {
		return 0
	}
	n, e := m.transferBy(m.tid, call, addr, p)
	if e == unix.ESRCH && m.useLiving() {
		n, e = m.transferBy(m.tid, call, addr, p)
	}
	if e != 0 {
		return 0
	}
	return n
}

func (m *Memory) transferBy(tid int, call uintptr, addr uint64, p []byte) (int, unix.Errno) {
	m.local.Base = &p[0]
	m.local.SetLen(len(p))
	m.remote.Base, m.remote.Len = uintptr(addr), len(p)
	r, _, e := unix.RawSyscall6(call, uintptr(tid), uintptr(unsafe.Pointer(&m.local)), 1,
		uintptr(unsafe.Pointer(&m.remote)), 1, 0)
	m.local.Base = nil // p belongs to the caller again
	return int(r), e
}

// useLiving finds a thread that still has the memory, after the one it was reached through has ended: a process goes on when its
// first thread ends (pthread_exit in main), and the kernel reaches no memory through that one any more. It reports false when there
// is none.
func (m *Memory) useLiving() bool {
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", m.pid))
	if err != nil {
		return false
	}
	for _, task := range tasks {
		tid, err := strconv.Atoi(task.Name())
		if err != nil || tid == m.tid {
			continue
		}
		var b [1]byte
		if _, e := m.transferBy(tid, unix.SYS_PROCESS_VM_READV, 0, b[:]); e != unix.ESRCH { // EFAULT: it has memory, and nothing there
			m.tid = tid
			return true
		}
	}
	return false
}

// Peek reads all of p at addr, whatever the page protection says.
func (m *Memory) Peek(addr uint64, p []byte) error {
	if n, err := m.mem.ReadAt(p, int64(addr)); n != len(p) {
		return fmt.Errorf("cannot read %d bytes at %#x: %w", len(p), addr, err)
	}
	return nil
}

// PeekAvailable reads as much of p at addr as there is.
func (m *Memory) PeekAvailable(addr uint64, p []byte) int {
	n, _ := m.mem.ReadAt(p, int64(addr))
	return n
}

// Poke writes all of p at addr, whatever the page protection says: a private page becomes the process's own copy. It falls
// back to POKEDATA by thread stopped (0: none is stopped) on kernels that restrict writing to /proc/PID/mem.
func (m *Memory) Poke(addr uint64, p []byte, stopped int) error {
	n, err := m.mem.WriteAt(p, int64(addr))
	if n == len(p) {
		return nil
	}
	if stopped != 0 && m.pokeWords(addr, p, stopped) {
		return nil
	}
	return fmt.Errorf("cannot write %d bytes at %#x: %w", len(p), addr, err)
}

// pokeWords writes p a word at a time by a stopped tracee; the bytes around p are written as they are.
func (m *Memory) pokeWords(addr uint64, p []byte, stopped int) bool {
	for len(p) > 0 {
		var word [unsafe.Sizeof(uintptr(0))]byte // a word is one of ours, whatever the tracee's
		start := addr &^ uint64(len(word)-1)
		if m.Peek(start, word[:]) != nil {
			return false
		}
		n := copy(word[addr-start:], p)
		var v uintptr
		for i := range word {
			v |= uintptr(word[i]) << (8 * i)
		}
		if request(reqPokeData, stopped, uintptr(start), v) != 0 {
			return false
		}
		addr, p = addr+uint64(n), p[n:]
	}
	return true
}
