package ptrace

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// maxFilter is how many instructions a filter has at most (BPF_MAXINSNS).
const maxFilter = 4096

// Filter reads a stopped tracee's seccomp filter; 0 is the one that was installed first. ENOENT: it has no more. EACCES: the caller lacks
// CAP_SYS_ADMIN, or has a filter itself. EIO and EINVAL: a kernel without the request (CONFIG_CHECKPOINT_RESTORE).
func Filter(tid, index int) ([]unix.SockFilter, syscall.Errno) {
	n, e := requestResult(reqGetFilter, tid, uintptr(index), nil)
	if e != 0 {
		return nil, e
	}
	if n == 0 || n > maxFilter {
		return nil, syscall.EINVAL
	}
	// The kernel writes as many instructions as it has just said, and filters never change.
	all := make([]unix.SockFilter, n)
	if n, e = requestResult(reqGetFilter, tid, uintptr(index), unsafe.Pointer(&all[0])); e != 0 {
		return nil, e
	}
	return all[:min(int(n), len(all))], 0
}
