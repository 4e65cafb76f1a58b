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
	"gotap/engine/linux/procfs"
)

// Memory is the memory of one process, with two kinds of access. ReadAt, ReadMemory and WriteMemory respect page
// protection, like the process itself. Peek and Poke use /proc/PID/mem, which overrides protection for private
// mappings; breakpoints and slots are written that way.
//
// Any goroutine may call Peek and Poke. The other methods belong to the tracing thread, because their vectors are part
// of the value, so that calls allocate nothing. All methods of the zero value fail.
type Memory struct {
	pid    int // the process
	tid    int // the thread whose number is used for access
	mem    *os.File
	local  unix.Iovec
	remote unix.RemoteIovec
	old    [128]byte // bytes before a write that crosses pages; no instruction writes more
	lazy   *lazy     // nil: no other program fills in memory of it

	// Stack is the stack pointer of the thread whose hit is handled. Pages there are checked only once.
	Stack uint64
}

const pageSize = 4096

// OpenMemory opens the memory of the process that thread tid belongs to. After an exec it must be opened again.
func OpenMemory(tid int) (*Memory, error) {
	f, err := os.OpenFile(fmt.Sprintf("/proc/%d/mem", tid), os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("cannot open memory of process %d: %w", tid, err)
	}
	return &Memory{pid: procfs.Group(tid), tid: tid, mem: f, lazy: openLazy(tid)}, nil
}

// Use sets a living thread of the process whose number is used for access.
func (m *Memory) Use(tid int) { m.tid = tid }

// Close closes the memory. Later calls fail.
func (m *Memory) Close() error {
	m.lazy.close()
	return m.mem.Close()
}

// ReadAvailable reads at addr and returns how many bytes from the start of p could be read. It does not read pages that
// another program would have to fill in.
func (m *Memory) ReadAvailable(addr uint64, p []byte) int {
	if m.lazy != nil && len(p) > 0 && !m.lazy.ready(addr, len(p), m.Stack, false) {
		p = p[:m.before(addr, len(p))]
	}
	return m.transfer(unix.SYS_PROCESS_VM_READV, addr, p)
}

// FaultIn brings n bytes at addr into memory, and reports whether they are there or no memory is: only pages that
// another program would have to fill in stay away. A missing page takes long.
func (m *Memory) FaultIn(addr uint64, n int) bool {
	if m.lazy == nil {
		return true
	}
	for at := addr; at < addr+uint64(n); at = (at | (pageSize - 1)) + 1 {
		if m.lazy.ready(at, 1, m.Stack, true) {
			continue
		}
		if m.lazy.waits(at) {
			return false
		}
		m.transfer(unix.SYS_PROCESS_VM_READV, at, m.old[:1])
	}
	return true
}

// before returns how many of n bytes at addr precede a page that another program fills in.
func (m *Memory) before(addr uint64, n int) int {
	for at := addr; at < addr+uint64(n); at = (at | (pageSize - 1)) + 1 {
		if !m.lazy.ready(at, 1, m.Stack, false) && m.lazy.waits(at) {
			return int(at - addr)
		}
	}
	return n
}

// Gone reports whether no process has the address space any more: all have ended, or run other programs. The kernel
// then returns the end of the file, while it returns EIO for an address that is not mapped (proc(5); mem_rw in
// fs/proc/base.c).
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

// WriteMemory implements arch.Memory. The kernel copies up to a page that it may not write. When a write that crosses
// pages fails, the bytes copied are restored.
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

// transfer makes one process_vm_readv or process_vm_writev with vectors of one part, and returns how many bytes were
// copied. The first byte that was not copied faults; why does not matter to callers.
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
	m.local.Base = nil // do not keep p alive
	return int(r), e
}

// useLiving finds another thread of the process after the one used for access has ended: a process continues when its
// first thread ends (pthread_exit in main), and its memory is not accessible through that number any more. It returns
// false when there is none.
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
		if _, e := m.transferBy(tid, unix.SYS_PROCESS_VM_READV, 0, b[:]); e != unix.ESRCH { // EFAULT: the thread has memory
			m.tid = tid
			return true
		}
	}
	return false
}

// Peek reads all of p at addr and ignores page protection.
func (m *Memory) Peek(addr uint64, p []byte) error {
	if n, err := m.mem.ReadAt(p, int64(addr)); n != len(p) {
		return fmt.Errorf("cannot read %d bytes at %#x: %w", len(p), addr, err)
	}
	return nil
}

// PeekAvailable reads as much of p at addr as is mapped.
func (m *Memory) PeekAvailable(addr uint64, p []byte) int {
	n, _ := m.mem.ReadAt(p, int64(addr))
	return n
}

// Poke writes all of p at addr and ignores page protection: a private page is copied for the process. On kernels that
// restrict writing to /proc/PID/mem it uses POKEDATA through the thread stopped (0: none is stopped).
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

// pokeWords writes p word by word through a stopped tracee, and rewrites the bytes around p unchanged.
func (m *Memory) pokeWords(addr uint64, p []byte, stopped int) bool {
	for len(p) > 0 {
		var word [unsafe.Sizeof(uintptr(0))]byte // a word of this program, not of the tracee
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
