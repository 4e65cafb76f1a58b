package ptrace

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"gotap/engine/linux/procfs"
)

// Memory that another program fills in (userfaultfd(2)). An access to a missing page waits until the program that
// handles such faults has provided it, including a tracer's reads and writes: only the handler, or being killed, ends
// the wait. If the handler is itself stopped at a breakpoint and waits for the tracer, both hang forever. So in a
// process that may have such memory, /proc/PID/pagemap is read first, which does not wait. A page that is missing, or
// is write-protected by a userfaultfd, is treated as one that faults: an instruction that accesses it is executed by
// the processor, in the thread itself.
//
// Only a process with CAP_SYS_PTRACE can handle faults in the kernel, unless the administrator allows it to all.
// Other processes need no check. A page may still disappear between the check and
// the access.

// lazy reads which pages of a process are present.
type lazy struct {
	pid     int
	pagemap *os.File
	sure    [16]uint64 // pages of stacks that were present; a thread uses them, so they remain
	page    [8]byte
}

const (
	pageShift     = 12
	pagePresent   = 3 << 62 // in an entry of pagemap: in memory, or swapped out
	pageProtected = 1 << 57 // by a userfaultfd
)

// openLazy returns a lazy for a process that may have memory that other programs fill in, and nil for other processes
// or when that cannot be found out.
func openLazy(tid int) *lazy {
	if !mayWait(tid) {
		return nil
	}
	f, err := os.Open(fmt.Sprintf("/proc/%d/pagemap", tid))
	if err != nil {
		return nil
	}
	return &lazy{pid: tid, pagemap: f}
}

// mayWait reports whether a process can have, or has, a userfaultfd that makes the kernel wait.
func mayWait(tid int) bool {
	const sysPtrace = 1 << 19 // CAP_SYS_PTRACE
	if sysctl, _ := os.ReadFile("/proc/sys/vm/unprivileged_userfaultfd"); len(sysctl) > 0 && sysctl[0] == '1' {
		return true
	}
	if st, err := os.Stat("/dev/userfaultfd"); err == nil && st.Mode().Perm()&0o066 != 0 {
		return true
	}
	if capabilities(tid)&sysPtrace != 0 {
		return true
	}
	links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", tid))
	for _, link := range links {
		if to, _ := os.Readlink(link); to == "anon_inode:[userfaultfd]" {
			return true
		}
	}
	return false
}

// capabilities returns the effective capabilities of a thread.
func capabilities(tid int) uint64 {
	set, _ := strconv.ParseUint(procfs.Status(tid, "CapEff"), 16, 64)
	return set
}

// ready reports whether n bytes at addr can be read, or written, without waiting for another program. sp is the stack
// pointer of the thread whose hit is handled.
func (l *lazy) ready(addr uint64, n int, sp uint64, write bool) bool {
	for page := addr >> pageShift; page <= (addr+uint64(n)-1)>>pageShift; page++ {
		slot := &l.sure[page%uint64(len(l.sure))]
		if *slot == page {
			continue
		}
		if n, err := unix.Pread(int(l.pagemap.Fd()), l.page[:], int64(page*8)); err != nil || n < len(l.page) {
			return true // the page does not exist
		}
		v := binary.LittleEndian.Uint64(l.page[:])
		if v&pagePresent == 0 || write && v&pageProtected != 0 {
			return false
		}
		if page == sp>>pageShift && write {
			*slot = page
		}
	}
	return true
}

// waits reports whether an address without memory belongs to a userfaultfd.
func (l *lazy) waits(addr uint64) bool {
	f, err := os.Open(fmt.Sprintf("/proc/%d/smaps", l.pid))
	if err != nil {
		return true
	}
	defer f.Close()
	inside := false
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := lines.Text()
		if flags, ok := strings.CutPrefix(line, "VmFlags:"); ok && inside {
			return strings.Contains(flags, " um") || strings.Contains(flags, " ui") || strings.Contains(flags, " uw")
		}
		if start, end, ok := mappingLine(line); ok {
			inside = addr >= start && addr < end
		}
	}
	return false
}

// mappingLine parses the first line of a mapping.
func mappingLine(line string) (start, end uint64, ok bool) {
	from, rest, ok := strings.Cut(line, "-")
	if !ok {
		return 0, 0, false
	}
	to, _, _ := strings.Cut(rest, " ")
	start, err1 := strconv.ParseUint(from, 16, 64)
	end, err2 := strconv.ParseUint(to, 16, 64)
	return start, end, err1 == nil && err2 == nil
}

// close closes the file.
func (l *lazy) close() {
	if l != nil {
		l.pagemap.Close()
	}
}
