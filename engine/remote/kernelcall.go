package remote

import (
	"cmp"
	"debug/elf"
	"errors"
	"strings"

	"gotap/arch/x86"
	"gotap/engine/image/module"
	"gotap/engine/linux/syscallnames"
	"gotap/engine/place"
)

// System calls of a machine's kernel: the places are the kernel's functions for them. On x86 and AArch64 these have
// one argument, the registers of the process at the call (struct pt_regs; since Linux 4.17 and 4.19); on 32-bit ARM
// they have the arguments themselves. The calls of processes of another word size than the kernel's have separate
// functions, and are not seen.

// callPrefix is what a kernel puts before the name of a system call.
var callPrefix = map[elf.Machine]string{
	elf.EM_X86_64: "__x64_sys_", elf.EM_386: "__ia32_sys_", elf.EM_AARCH64: "__arm64_sys_", elf.EM_ARM: "sys_",
}

// callAlias lists the calls whose functions have another name (SYSCALL_DEFINE in the kernel's fs/stat.c,
// kernel/sys.c, fs/namespace.c, fs/read_write.c).
var callAlias = map[string]string{
	"stat": "newstat", "lstat": "newlstat", "fstat": "newfstat", "uname": "newuname", "umount2": "umount", "sendfile": "sendfile64",
}

// callPlace is the prefix of the names of places in such functions.
const callPlace = "syscall:"

// argOffset returns the offset of an argument in struct pt_regs, according to the kernel's
// arch/x86/include/asm/ptrace.h and arch/arm64/include/uapi/asm/ptrace.h.
func argOffset(machine elf.Machine, n int) (offset uint64, ok bool) {
	const words64, words32 = 8, 4
	order := map[elf.Machine][6]int{ // words before the register
		elf.EM_X86_64: {14, 13, 12, 7, 9, 8}, elf.EM_386: {0, 1, 2, 3, 4, 5}, elf.EM_AARCH64: {0, 1, 2, 3, 4, 5},
	}
	words, ok := order[machine]
	if !ok || n >= len(words) {
		return 0, false
	}
	if machine == elf.EM_386 {
		return uint64(words[n] * words32), true
	}
	return uint64(words[n] * words64), true
}

// kernelCalls returns the functions of the system calls to which a specification refers.
func (p *program) kernelCalls(r *place.Resolver, spec place.Spec, files []*module.File) (found []place.Target, err error) {
	known := false
	for _, name := range syscallnames.Names(p.stub.isa.Machine) {
		if name == "" || !spec.Matches(name) {
			continue
		}
		known = true
		function := callPrefix[p.stub.isa.Machine] + cmp.Or(callAlias[name], name)
		targets, e := r.ResolveAll(place.Spec{Kind: place.Function, Name: function}, files)
		if e != nil && !spec.Pattern() {
			err = errors.Join(err, e)
		}
		for _, t := range targets {
			t.Name, t.Symbol = callPlace+name, name
			found = append(found, t)
		}
	}
	switch {
	case len(found) > 0:
		return found, nil
	case !known:
		return nil, &place.NotFoundError{Spec: spec, What: place.NoSyscall}
	case err == nil:
		err = &place.NotFoundError{Spec: spec, What: place.NoSyscall}
	}
	return nil, err
}

// isKernelCall reports whether a place is the function of a system call.
func isKernelCall(t place.Target) bool { return strings.HasPrefix(t.Name, callPlace) }

// kernelCallArg returns an argument of the system call whose function the thread has entered; when the function
// returns, the arguments are no longer known.
func (v *view) kernelCallArg(n int) (uint64, bool) {
	if v.h.Now.Leave {
		return 0, false
	}
	offset, packed := argOffset(v.stub.isa.Machine, n)
	if !packed {
		arg, ok := v.View.Arg(n)
		return arg, ok && n < 6
	}
	var regs uint64
	if v.stub.isa.Machine == elf.EM_386 {
		regs = v.regs.General[x86.RAX] // the kernel's own convention: registers
	} else {
		regs, _ = v.stub.isa.Arg(0, &v.regs.General, v.mem)
	}
	arg, ok := v.mem.Pointer(regs + offset)
	if !ok {
		return 0, false
	}
	return v.stub.isa.Word(arg), true
}
