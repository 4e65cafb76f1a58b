package inline

import (
	"debug/elf"
	"errors"

	"gotap/arch"
	"gotap/engine/image/module"
)

// Site is where a jump that serves a place can be written, as far as the file tells. Addresses are those of the file.
type Site struct {
	Window arch.Window // the instructions that the jump replaces
	Before int         // those of them that come before the place
	Go     bool        // the place is in a function of Go, behind the check of its stack: see GoRoom
}

// ErrOtherArch is the reason for programs of other processors.
var ErrOtherArch = errors.New("native code is made for programs of x86-64 and of 64-bit ARM only")

// Reasons why a place of a file gets no jump.
var (
	errTwoPages = errors.New("the bytes that the jump would replace are in two pages")
	errIndirect = errors.New("a call through a pointer is among the first instructions")
)

// SiteOf finds the site of a place in a file, which must be the start of an instruction. With around, the jump may be
// in front of the place. The error, which matches no other, says why there is none; it is an *arch.WindowError if the
// instructions are the reason.
//
// The first call for a file decodes all of its code: see module.Windows.
func SiteOf(f *module.File, vaddr uint64, around bool) (s Site, err error) {
	switch {
	case f.Machine == elf.EM_AARCH64:
		return siteA64(f, vaddr)
	case f.Machine != elf.EM_X86_64:
		return Site{}, ErrOtherArch
	case f.IsGo():
		return goSite(f, vaddr)
	case around:
		s.Window, s.Before, err = f.Windows(Windows).Around(vaddr)
	default:
		s.Window, err = f.Windows(Windows).At(vaddr)
	}
	if err != nil {
		return Site{}, err
	}
	switch last := s.Window.Insns[len(s.Window.Insns)-1]; {
	case last.Control == arch.IndirCall: // its copy pushes before it reads: a fault would show a different stack pointer
		return Site{}, errIndirect
	case !InOnePage(s.Window.Addr): // a file is mapped by whole pages
		return Site{}, errTwoPages
	}
	return s, nil
}

var errGoStack = errors.New("functions of Go need not have room on their stack for native code")

// siteA64 is SiteOf for a program of 64-bit ARM. A jump replaces the instruction at the place.
func siteA64(f *module.File, vaddr uint64) (s Site, err error) {
	if f.IsGo() {
		return s, errGoStack
	}
	form := FormOf(f.Machine)
	code, err := f.Code(vaddr, form.Len())
	if err != nil {
		return s, err
	}
	s.Window, err = form.Windows.WindowAt(code, vaddr)
	return s, err
}

var errRecords = errors.New("the instruction may fault, and a record must not be seen then")

// Records returns why programs that write records cannot run there, or nil. Native code writes them before the
// instruction, so it has to know that this does not fault: in all cases, or by a look at its operand.
func (s *Site) Records() error {
	if s.Window.Completes || s.Go || s.Window.Operand != nil {
		return nil
	}
	return errRecords
}
