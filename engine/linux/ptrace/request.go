package ptrace

import (
	"syscall"
	"unsafe"
)

// Requests of ptrace(2) that are the same on all processors.
const (
	reqPokeData    = 5
	reqCont        = 7
	reqSingleStep  = 9
	reqDetach      = 17
	reqSyscall     = 24
	reqSetOptions  = 0x4200
	reqEventMsg    = 0x4201
	reqGetSigInfo  = 0x4202
	reqSetSigInfo  = 0x4203
	reqGetRegSet   = 0x4204
	reqSetRegSet   = 0x4205
	reqSeize       = 0x4206
	reqInterrupt   = 0x4207
	reqListen      = 0x4208
	reqPeekSigInfo = 0x4209
	reqGetSigMask  = 0x420a
	reqSetSigMask  = 0x420b
	reqGetFilter   = 0x420c
	reqSyscallInfo = 0x420e
	reqRseq        = 0x420f
)

// All functions below return an Errno, not an error: the place that reports it makes an interface of it,
// so that a hit does not allocate. 0 is success; ESRCH means that the tracee is not stopped any more (it was
// killed), and Wait will report its end.

// Seize makes the calling thread the tracer of tid, which it does not stop.
func Seize(tid int, options uintptr) syscall.Errno { return request(reqSeize, tid, 0, options) }

// SetOptions changes the options of a stopped tracee.
func SetOptions(tid int, options uintptr) syscall.Errno {
	return request(reqSetOptions, tid, 0, options)
}

// Cont resumes a stopped tracee, and delivers a signal unless sig is 0.
func Cont(tid, sig int) syscall.Errno { return request(reqCont, tid, 0, uintptr(sig)) }

// Step lets a stopped tracee execute one instruction.
func Step(tid, sig int) syscall.Errno { return request(reqSingleStep, tid, 0, uintptr(sig)) }

// ContToSyscall lets a stopped tracee run to its next system call, or to the end of the current one.
func ContToSyscall(tid, sig int) syscall.Errno { return request(reqSyscall, tid, 0, uintptr(sig)) }

// Listen leaves a tracee in its group stop, which SIGCONT ends.
func Listen(tid int) syscall.Errno { return request(reqListen, tid, 0, 0) }

// Interrupt stops a running tracee; the stop is an EventStop.
func Interrupt(tid int) syscall.Errno { return request(reqInterrupt, tid, 0, 0) }

// Detach ends the tracing of a stopped tracee and resumes it.
func Detach(tid, sig int) syscall.Errno { return request(reqDetach, tid, 0, uintptr(sig)) }

// GetSigInfo reads the signal a tracee is stopped with.
func GetSigInfo(tid int, s *SigInfo) syscall.Errno {
	return requestPointer(reqGetSigInfo, tid, 0, unsafe.Pointer(s))
}

// SetSigInfo replaces the signal a tracee is stopped with.
func SetSigInfo(tid int, s *SigInfo) syscall.Errno {
	return requestPointer(reqSetSigInfo, tid, 0, unsafe.Pointer(s))
}

// GetSigMask reads the signals a stopped tracee blocks: bit n-1 is signal n.
func GetSigMask(tid int, mask *uint64) syscall.Errno {
	return requestPointer(reqGetSigMask, tid, 8, unsafe.Pointer(mask))
}

// SetSigMask replaces the signals a stopped tracee blocks.
func SetSigMask(tid int, mask *uint64) syscall.Errno {
	return requestPointer(reqSetSigMask, tid, 8, unsafe.Pointer(mask))
}

// EventMsg returns the message of the event of a stopped tracee: the new tid of a fork, the former tid of an exec.
func EventMsg(tid int) (uint64, syscall.Errno) {
	var msg uint64
	e := requestPointer(reqEventMsg, tid, 0, unsafe.Pointer(&msg))
	return msg, e
}

// peekArgs is struct ptrace_peeksiginfo_args.
type peekArgs struct {
	off   uint64
	flags uint32
	nr    int32
}

// PendingSignal returns signal number i of those queued for this thread alone. ok is false when there are no more.
func PendingSignal(tid, i int, s *SigInfo) (ok bool) {
	args := peekArgs{off: uint64(i), nr: 1}
	return peekSigInfo(tid, &args, s) == 1
}

// SyscallOp is the kind of a stop at a system call.
type SyscallOp uint8

// The values of SyscallOp.
const (
	SyscallNone  SyscallOp = 0
	SyscallEntry SyscallOp = 1
	SyscallExit  SyscallOp = 2
)

// SyscallStop returns which side of a system call a tracee is stopped at. Kernels before 5.3 return EIO.
func SyscallStop(tid int) (SyscallOp, syscall.Errno) {
	var info [88]byte
	_, e := requestResult(reqSyscallInfo, tid, uintptr(len(info)), unsafe.Pointer(&info[0]))
	return SyscallOp(info[0]), e
}

// rseqConfiguration is struct ptrace_rseq_configuration.
type rseqConfiguration struct {
	area                        uint64
	size, signature, flags, pad uint32
}

// RseqArea returns the address of the area for restartable sequences that a stopped tracee has registered, or 0.
// Kernels before 5.13 return EIO.
func RseqArea(tid int) (uint64, syscall.Errno) {
	var c rseqConfiguration
	_, e := requestResult(reqRseq, tid, unsafe.Sizeof(c), unsafe.Pointer(&c))
	return c.area, e
}
