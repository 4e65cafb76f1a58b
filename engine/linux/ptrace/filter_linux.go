package ptrace

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// maxFilter is the largest number of instructions of a filter (BPF_MAXINSNS).
const maxFilter = 4096

// Filter reads a stopped tracee's seccomp filter; index 0 is the one that was installed first. ENOENT: there are no
// more. EACCES: the caller lacks CAP_SYS_ADMIN, or has a filter itself. EIO and EINVAL: the kernel lacks the request
// (CONFIG_CHECKPOINT_RESTORE).
func Filter(tid, index int) ([]unix.SockFilter, syscall.Errno) {
	n, e := requestResult(reqGetFilter, tid, uintptr(index), nil)
	if e != 0 {
		return nil, e
	}
	if n == 0 || n > maxFilter {
		return nil, syscall.EINVAL
	}
	// Filters never change, so the kernel writes as many instructions as it reported.
	all := make([]unix.SockFilter, n)
	if n, e = requestResult(reqGetFilter, tid, uintptr(index), unsafe.Pointer(&all[0])); e != 0 {
		return nil, e
	}
	return all[:min(int(n), len(all))], 0
}
