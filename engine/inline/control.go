package inline

import (
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// OwnerDied is the bit that the kernel sets in a robust futex whose owner has ended: FUTEX_OWNER_DIED in its
// uapi/linux/futex.h.
const OwnerDied = 1 << 30

// robust is a list of one robust futex, in the kernel's layout (struct robust_list_head and robust_list in its
// uapi/linux/futex.h). It is never freed, because the kernel reads it when its thread ends.
type robust struct {
	next    uintptr // head: the first entry
	offset  int     // from an entry to its futex, in bytes
	pending uintptr
	entry   uintptr // entry: the next one, which is the head
}

// keptLists keeps the lists of all threads in memory.
var keptLists atomic.Pointer[keptList]

type keptList struct {
	robust
	before *keptList
}

// robustHead is the size of struct robust_list_head.
const robustHead = 3 * unsafe.Sizeof(uintptr(0))

// Enable makes word enable the stubs of a session until the calling thread ends. The calling goroutine must be locked
// to its thread for good. The kernel sets bit 30 of the word when the thread ends, also when the process is killed.
//
// The kernel accepts the list because its entries are in our memory, wherever the futex is: the word may be in memory
// that is shared. The Go runtime has no robust futexes of its own.
func Enable(word *uint32) error {
	tid := unix.Gettid()
	k := &keptList{}
	// The kernel follows addresses, not Go pointers: k stays reachable through keptLists, and the heap of Go does not
	// move.
	k.next = uintptr(unsafe.Pointer(&k.entry))
	k.entry = uintptr(unsafe.Pointer(&k.robust))
	k.offset = int(uintptr(unsafe.Pointer(word)) - k.next)
	for {
		k.before = keptLists.Load()
		if keptLists.CompareAndSwap(k.before, k) {
			break
		}
	}
	if _, _, e := unix.RawSyscall(unix.SYS_SET_ROBUST_LIST, uintptr(unsafe.Pointer(&k.robust)), robustHead, 0); e != 0 {
		return e
	}
	atomic.StoreUint32(word, uint32(tid))
	return nil
}

// Disable disables the stubs of a session, on any thread. Enable may not be called again.
func Disable(word *uint32) { atomic.StoreUint32(word, OwnerDied) }

// Disabled reports whether the thread that enabled the stubs has ended, or Disable was called.
func Disabled(word *uint32) bool { return atomic.LoadUint32(word)&OwnerDied != 0 }
