package crashsafe

import (
	"bytes"
	"slices"

	"gotap/engine/abi"
	"gotap/engine/image/module"
	"gotap/engine/isa"
)

// signalSites holds the instructions in a file that call rt_sigprocmask and rt_sigaction. begins are rt_sigprocmask
// calls with a constant set (in code of x86-64) or with SIG_BLOCK (in other code), restores those that set a whole
// mask, which is how sections end, and masks all others. actions are the rt_sigaction calls.
type signalSites struct{ begins, masks, restores, actions []callSite }

// callSite is an instruction in a file that calls the kernel.
type callSite struct {
	vaddr uint64
	insn  callInsn
}

// callInsn describes an instruction that calls the kernel.
type callInsn struct {
	length int  // in bytes
	helper bool // on 32-bit ARM: it calls the function of the C library that calls the kernel, with the number in r12
}

// inOrder returns all sites in the order in which they are planted.
func (s *signalSites) inOrder() []callSite {
	return slices.Concat(s.begins, s.masks, s.actions, s.restores)
}

// kind returns the kind of the breakpoint at index i of inOrder.
func (s *signalSites) kind(i int) CallKind {
	switch {
	case i < len(s.begins):
		return callBegins
	case i < len(s.begins)+len(s.masks):
		return callAny
	}
	return callEnds
}

// lastOfKind reports whether the site at index i of inOrder is the last of its kind.
func (s *signalSites) lastOfKind(i int) bool {
	return i+1 == len(s.begins)+len(s.masks)+len(s.restores)+len(s.actions) || s.kind(i+1) != s.kind(i)
}

// signalSites finds the call sites in a file. It caches the result.
func (g *Guards) signalSites(f *module.File) (sites signalSites) {
	if sites, known := g.signalCalls[f]; known {
		return sites
	}
	a := abi.Of(f)
	if a == nil {
		return sites
	}
	for _, text := range f.Text() {
		code, err := f.Code(text.Start, int(text.End-text.Start))
		switch {
		case err != nil:
		case a == &abi.AMD64:
			sites.addAMD64(f, code, text.Start)
		default:
			sites.addPatterns(f, code, text.Start)
		}
	}
	if g.signalCalls == nil {
		g.signalCalls = map[*module.File]signalSites{}
	}
	g.signalCalls[f] = sites
	return sites
}

// addAMD64 adds the sites in code of x86-64, which begins at an address of a file.
func (s *signalSites) addAMD64(f *module.File, code []byte, start uint64) {
	for _, at := range findSyscalls(code) {
		list := &s.masks
		switch {
		case at.number == byte(abi.AMD64.Calls.Sigaction):
			list = &s.actions
		case at.fixed:
			list = &s.begins
		case at.sets:
			list = &s.restores
		}
		if vaddr := start + uint64(at.offset); isInstruction(f, vaddr) {
			*list = append(*list, callSite{vaddr, callInsn{length: len(abi.AMD64.Calls.Insn)}})
		}
	}
}

// numberedCall is a syscall instruction in code, with the system call number that appears to be loaded for it.
type numberedCall struct {
	offset int
	number byte
	sets   bool // it appears to set a whole mask
	fixed  bool // the set appears to be a constant
}

// findSyscalls finds byte sequences that look like syscall instructions for rt_sigprocmask and rt_sigaction: the number
// is loaded shortly before.
func findSyscalls(code []byte) (found []numberedCall) {
	const reach = 56 // bytes, about ten instructions
	loads := func(number uint64) []byte { return []byte{0xb8, byte(number), 0, 0, 0} }
	mask, action := loads(abi.AMD64.Calls.Procmask), loads(abi.AMD64.Calls.Sigaction)
	sets, fixed := []byte{0xbf, maskSet, 0, 0, 0}, []byte{0x48, 0x8d, 0x35} // mov $…, %edi; lea …(%rip), %rsi
	syscall := abi.AMD64.Calls.Insn
	for at := 0; ; at += len(syscall) {
		next := bytes.Index(code[at:], syscall)
		if next < 0 {
			return found
		}
		at += next
		before := code[max(0, at-reach):at]
		if i := bytes.LastIndex(before, syscall); i >= 0 {
			before = before[i:]
		}
		switch {
		case bytes.Contains(before, mask):
			found = append(found, numberedCall{at, mask[1], bytes.Contains(before, sets), bytes.Contains(before, fixed)})
		case bytes.Contains(before, action):
			found = append(found, numberedCall{offset: at, number: action[1]})
		}
	}
}

// isInstruction reports whether an instruction of a function begins at an address of a file. It takes the function's
// start from a symbol, or in stripped files from the unwinding tables. Without either it returns false.
func isInstruction(f *module.File, vaddr uint64) bool {
	var in module.Range
	if fn, ok := f.FuncAt(vaddr); ok && fn.Size > 0 {
		in = module.Range{Start: fn.Addr, End: fn.Addr + fn.Size}
	} else if i := slices.IndexFunc(f.Frames(), func(r module.Range) bool { return r.Contains(vaddr) }); i >= 0 {
		in = f.Frames()[i]
	} else {
		return false
	}
	code, err := f.Code(in.Start, int(in.End-in.Start))
	if err != nil {
		return false
	}
	all, err := isa.Boundaries(f, code, in.Start)
	return err == nil && slices.Contains(all, vaddr)
}
