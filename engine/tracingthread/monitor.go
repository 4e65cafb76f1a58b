package tracingthread

import (
	"os"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"gotap/engine/linux/procfs"
	"gotap/engine/linux/ptrace"
)

// YieldToTargets keeps the Go runtime's monitor, a thread of its own, from interrupting targets.
//
// Each time this program goes on after it had nothing to do, the monitor wakes up fifty times, every 20 µs (sysmon in
// the runtime's proc.go). While all processors are busy each of these ends the turn of another thread, mostly of a
// target: with 200 samples a second targets took 12 % longer, of which 4 % remain. With SCHED_BATCH the monitor has the
// same share of processor time, but waits until a processor is free or a turn ends (sched(7)). Until then goroutines may
// have to wait whose thread is in a system call, so it is called only when threads are sampled.
//
// A program for which another policy was chosen keeps it everywhere. Kernels that refuse leave everything as it was. It
// may be called from any goroutine, and more than once.
func YieldToTargets() {
	if monitor := firstThread(); monitor != 0 && policyOf(syscall.Getpid()) == procfs.PolicyOther {
		setPolicy(monitor, procfs.PolicyBatch)
	}
}

// takeBackPolicy gives the thread that calls it the policy of this program. Threads inherit theirs from the one that
// creates them, which may be the monitor. The tracing thread must answer at once, and programs are launched from it.
func takeBackPolicy() {
	if self := ptrace.Tid(); policyOf(self) == procfs.PolicyBatch && policyOf(syscall.Getpid()) == procfs.PolicyOther {
		setPolicy(self, procfs.PolicyOther)
	}
}

// firstThread returns the number of the thread that was created first after the main thread, or 0. It is the monitor:
// the runtime starts it before everything else. The kernel counts upwards, and begins again below highestThread.
func firstThread() int {
	entries, _ := os.ReadDir("/proc/self/task")
	first, main := 0, syscall.Getpid()
	age := func(tid int) int { return (tid - main + highestThread) % highestThread }
	for _, e := range entries {
		tid, err := strconv.Atoi(e.Name())
		if err == nil && tid != main && (first == 0 || age(tid) < age(first)) {
			first = tid
		}
	}
	return first
}

// highestThread is the limit of thread numbers on 64-bit kernels, PID_MAX_LIMIT. Where the limit is lower, the order is
// the same.
const highestThread = 1 << 22

// policyOf returns the scheduling policy of a thread of this process, or -1.
func policyOf(tid int) int {
	s, ok := procfs.ScheduleOf(tid)
	if !ok {
		return -1
	}
	return s.Policy
}

// setPolicy changes the scheduling policy of a thread to one without priorities. The kernel reads the parameter, whose
// pointer is converted within the expression of the call, as package unsafe allows (rule 4).
func setPolicy(tid, policy int) {
	var priority int32
	unix.RawSyscall(unix.SYS_SCHED_SETSCHEDULER, uintptr(tid), uintptr(policy), uintptr(unsafe.Pointer(&priority)))
}
