package ptrace

import (
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Alarm interrupts the Wait of one thread at a time that is set, as Kick does, without any other thread of this program.
// It is a timer of the kernel (timer_create). Its methods may be called from any goroutine. In each of them the kernel
// reads and writes variables only during the call; their pointers are converted within the expression of the call, as
// package unsafe allows (rule 4).
type Alarm struct{ id int32 }

// NewAlarm returns an alarm for the thread that calls it. The kernel refuses where the user's signals that may be queued
// are used up (RLIMIT_SIGPENDING), of which an alarm takes one.
func NewAlarm() (Alarm, syscall.Errno) {
	const threadID = 4 // SIGEV_THREAD_ID
	event := struct {  // struct sigevent
		value       uintptr
		signal, how int32
		tid         int32
		_           [48]byte
	}{signal: kickSignal, how: threadID, tid: int32(Tid())}
	var a Alarm
	_, _, e := unix.RawSyscall(unix.SYS_TIMER_CREATE, unix.CLOCK_MONOTONIC, uintptr(unsafe.Pointer(&event)), uintptr(unsafe.Pointer(&a.id)))
	return a, e
}

// Set makes the alarm interrupt the thread at a time of Now, and from then on again and again. A time that has passed
// already interrupts at once. What was set before no longer counts.
func (a Alarm) Set(at uint64, again time.Duration) syscall.Errno {
	allowInterrupt()
	return a.set(unix.ItimerSpec{Interval: unix.NsecToTimespec(int64(again)), Value: unix.NsecToTimespec(int64(max(at, 1)))})
}

// Stop ends what was set.
func (a Alarm) Stop() { a.set(unix.ItimerSpec{}) }

func (a Alarm) set(when unix.ItimerSpec) syscall.Errno {
	const absolute = 1 // TIMER_ABSTIME
	_, _, e := unix.RawSyscall6(unix.SYS_TIMER_SETTIME, uintptr(a.id), absolute, uintptr(unsafe.Pointer(&when)), 0, 0, 0)
	return e
}

// Delete removes the alarm.
func (a Alarm) Delete() { unix.RawSyscall(unix.SYS_TIMER_DELETE, uintptr(a.id), 0, 0) }
