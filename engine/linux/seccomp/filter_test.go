package seccomp

import (
	"math/rand/v2"
	"os"
	"runtime"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// nobody is a number that no system call has: the kernel says ENOSYS when a filter lets it pass.
const nobody = 0x1234

// here is the kind of system calls that this program makes.
var here = map[string]uint32{"amd64": ArchAMD64, "arm64": ArchARM64, "arm": ArchARM}[runtime.GOARCH]

// TestFiltersAgainstKernel gives threads of this process random filters, makes calls, and compares what the kernel did
// with what Allows says.
func TestFiltersAgainstKernel(t *testing.T) {
	seed := uint64(os.Getpid())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	installed, passed := 0, 0
	for range 3000 {
		f := randomFilter(r)
		calls := make([]Call, 8)
		for i := range calls {
			calls[i] = Call{Number: nobody, Arch: here}
			for k := range calls[i].Args {
				calls[i].Args[k] = r.Uint64() >> (r.IntN(2) * (r.IntN(64)))
			}
		}
		verdicts, ok := kernelVerdicts(f, calls)
		if !ok {
			continue // it divides by nothing, or shifts too far, for all the kernel knows
		}
		installed++
		for i, c := range calls {
			if verdicts[i] {
				passed++
			}
			if got := f.Allows(c); got != verdicts[i] {
				t.Fatalf("%+v\n%#v: the kernel let it pass: %v", f, c, verdicts[i])
			}
		}
	}
	if installed < 1000 || passed < 500 {
		t.Errorf("only %d filters were taken by the kernel, and %d calls passed", installed, passed)
	}
}

// kernelVerdicts makes calls in a thread of their own, which has the filter until it ends.
func kernelVerdicts(f Filter, calls []Call) (passed []bool, ok bool) {
	done := make(chan bool)
	passed = make([]bool, len(calls))
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends
		program := unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]}
		unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
		if err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0); err != nil {
			done <- false
			return
		}
		for i, c := range calls {
			a := c.Args
			_, _, e := syscall.RawSyscall6(nobody, uintptr(a[0]), uintptr(a[1]), uintptr(a[2]), uintptr(a[3]), uintptr(a[4]), uintptr(a[5]))
			passed[i] = e == syscall.ENOSYS
		}
		done <- true
	}()
	return passed, <-done
}

// randomFilter is a program that lets all calls but one number pass, and decides at random about that.
func randomFilter(r *rand.Rand) Filter {
	const allow, refuse = 0x7fff0000, 0x00050001 // EPERM
	word := []uint32{0, 4, 16, 20, 24, 28, 32, 40, 48, 56, 60}
	value := func() uint32 {
		return []uint32{0, 1, 2, 31, uint32(r.Uint64()), uint32(r.IntN(256)), 1 << r.IntN(32), nobody}[r.IntN(8)]
	}
	f := Filter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}, {Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: nobody, Jt: 1}, {Code: unix.BPF_RET, K: allow}}
	for i := range uint32(16) { // memory that is read has to have been written
		f = append(f, unix.SockFilter{Code: unix.BPF_ST, K: i})
	}
	length := 3 + r.IntN(30)
	for i := range length {
		rest := length - i
		in := unix.SockFilter{K: value()}
		switch r.IntN(9) {
		case 0, 1:
			in.Code, in.K = unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, word[r.IntN(len(word))]
		case 2:
			in.Code = []uint16{unix.BPF_LD | unix.BPF_IMM, unix.BPF_LDX | unix.BPF_W | unix.BPF_IMM, unix.BPF_LD | unix.BPF_W | unix.BPF_LEN, unix.BPF_LDX | unix.BPF_W | unix.BPF_LEN}[r.IntN(4)]
		case 3:
			in.Code = []uint16{unix.BPF_LD | unix.BPF_MEM, unix.BPF_LDX | unix.BPF_W | unix.BPF_MEM, unix.BPF_ST, unix.BPF_STX}[r.IntN(4)]
			in.K %= 16
		case 4:
			in.Code = unix.BPF_MISC | []uint16{0, 0x80}[r.IntN(2)]
		case 5, 6:
			op := []uint16{unix.BPF_ADD, unix.BPF_SUB, unix.BPF_MUL, unix.BPF_DIV, unix.BPF_OR, unix.BPF_AND, unix.BPF_XOR, unix.BPF_NEG, unix.BPF_LSH, unix.BPF_RSH}[r.IntN(10)]
			in.Code = unix.BPF_ALU | op
			if op != unix.BPF_DIV && op != unix.BPF_LSH && op != unix.BPF_RSH && r.IntN(2) == 0 { // what processors differ in is left out
				in.Code |= unix.BPF_X
			} else if op == unix.BPF_NEG {
				in.K = 0
			}
		case 7:
			in.Code = unix.BPF_JMP | []uint16{unix.BPF_JEQ, unix.BPF_JGT, unix.BPF_JGE, unix.BPF_JSET}[r.IntN(4)] | uint16(r.IntN(2))*unix.BPF_X
			in.Jt, in.Jf = uint8(r.IntN(rest)), uint8(r.IntN(rest))
		case 8:
			in.Code, in.K = unix.BPF_JMP|unix.BPF_JA, uint32(r.IntN(rest))
		}
		f = append(f, in)
	}
	compare := unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K, K: value(), Jt: 1}
	return append(f, compare, unix.SockFilter{Code: unix.BPF_RET, K: allow}, unix.SockFilter{Code: unix.BPF_RET, K: refuse})
}

// FuzzAllows: no program makes it fail, or go on without end.
func FuzzAllows(f *testing.F) {
	f.Add([]byte{6, 0, 0, 0, 0, 0, 0xff, 0x7f})
	f.Fuzz(func(t *testing.T, code []byte) {
		var p Filter
		for ; len(code) >= 8; code = code[8:] {
			p = append(p, unix.SockFilter{Code: uint16(code[0]) | uint16(code[1])<<8, Jt: code[2], Jf: code[3],
				K: uint32(code[4]) | uint32(code[5])<<8 | uint32(code[6])<<16 | uint32(code[7])<<24})
		}
		p.Allows(Call{Number: 1, Arch: ArchAMD64})
	})
}
