package inline

import (
	"debug/elf"
	"errors"
	"fmt"

	"gotap/arch"
	"gotap/engine/image/module"
	"gotap/engine/linux/hostcpu"
)

// Site is where a jump that serves a place can be written, as far as the file tells. Addresses are those of the file.
type Site struct {
	Window arch.Window // the instructions that the jump replaces
	Before int         // those of them that come before the place
	// Springboards are where the jump can lead if it is a short one, in bytes that nothing executes: one of them gets a
	// jump to the stub. Nil: the jump leads to the stub itself.
	Springboards []uint64
	Go           bool // the place is in a function of Go, behind the check of its stack: see GoRoom
}

// Reasons why calls that are followed to their return stop threads at their ends.
var (
	ErrTail      = errors.New("the function ends in a jump to another one")
	ErrGoroutine = errors.New("calls of a function of Go are followed by their goroutine")
)

// ErrOtherArch is the reason for programs of other processors.
var ErrOtherArch = errors.New("native code is made for programs of x86-64 and of 64-bit ARM only")

// Reasons why a place of a file gets no jump.
var (
	errTwoPages = errors.New("the bytes that the jump would replace are in two pages")
	errIndirect = errors.New("a call through a pointer is among the first instructions")
	errNoPads   = errors.New("no padding is near enough for a short jump")
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
	}
	if s, err = siteFor(f.Windows(Windows), vaddr, around); err == nil {
		return s, nil
	}
	short, failed := ShortSiteOf(f, vaddr, around)
	if errors.Is(failed, errNoPads) {
		err = fmt.Errorf("%w, and %w", err, errNoPads)
	}
	if failed != nil {
		return Site{}, err
	}
	return short, nil
}

// siteFor finds the site of a place for jumps of one length.
func siteFor(w module.Windows, vaddr uint64, around bool) (s Site, err error) {
	if around {
		s.Window, s.Before, err = w.Around(vaddr)
	} else {
		s.Window, err = w.At(vaddr)
	}
	if err != nil {
		return Site{}, err
	}
	switch last := s.Window.Insns[len(s.Window.Insns)-1]; {
	case last.Control == arch.IndirCall: // its copy pushes before it reads: a fault would show a different stack pointer
		return Site{}, errIndirect
	case !inOnePage(s.Window.Addr, s.Window.Arch.JumpLen()): // a file is mapped by whole pages
		return Site{}, errTwoPages
	}
	return s, nil
}

// ShortSiteOf is SiteOf for a jump that leads to a springboard, and so replaces fewer instructions.
func ShortSiteOf(f *module.File, vaddr uint64, around bool) (Site, error) {
	if f.Machine != elf.EM_X86_64 || f.IsGo() {
		return Site{}, errNoPads
	}
	w := f.Windows(Short)
	s, err := siteFor(w, vaddr, around)
	if err != nil {
		return s, err
	}
	for _, at := range w.Springboards(s.Window.Addr, JumpSize) {
		if at < s.Window.End() && at+JumpSize > s.Window.Addr {
			continue
		}
		// What restores code after a kill looks for a breakpoint at each place. One may be the second byte of the jump.
		if jump, err := Short.Jump(s.Window.Addr, at); err == nil && jump[1] != breakpoint && inOnePage(at, JumpSize) {
			s.Springboards = append(s.Springboards, at)
		}
	}
	if s.Springboards == nil {
		return Site{}, errNoPads
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
	if err == nil && s.Window.LandingPad && hostcpu.ChecksBranchTargets() {
		err = errLandingPad
	}
	return s, err
}

// errLandingPad is the reason of instructions like bti. Whether the processor checks where a branch lands depends on
// how the code is mapped, which may change.
var errLandingPad = errors.New("indirect branches may lead there, and the processor checks that they land on such an instruction")

var errRecords = errors.New("the instruction may fault, and a record must not be seen then")

// Records returns why programs that write records cannot run there, or nil. Native code writes them before the
// instruction, so it has to know that this does not fault: in all cases, or by a look at its operand.
func (s *Site) Records() error {
	if s.Window.Completes || s.Go || s.Window.Operand != nil {
		return nil
	}
	return errRecords
}
