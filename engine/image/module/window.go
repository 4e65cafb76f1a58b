package module

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"sync/atomic"

	"gotap/arch"
	"gotap/engine/image/symtab"
)

// windowCode is how many bytes of code are read for a window: those that a jump may replace, and some instructions
// behind them, from which it is known whether the flags are in use.
const windowCode = 64

// Windows finds where jumps fit in the code of a file.
type Windows struct {
	*File
	arch arch.BranchArch
}

// windowFacts are what is known of the code of a file as a whole, for its windows.
type windowFacts struct {
	targets lazy[*Targets]
	known   atomic.Bool  // targets have been read
	wishes  atomic.Int64 // calls of WorthSearching
	flow    lastFlow
}

// Windows returns the windows of the file, whose code a decodes.
func (f *File) Windows(a arch.BranchArch) Windows { return Windows{f, a} }

// At returns the window of a jump at an address of the file, which must be the start of an instruction. The error, an
// *arch.WindowError, says why no jump fits there: besides the reasons that the instructions have, something else may
// lead into the bytes that the jump would replace.
//
// A window of several instructions behind the entry of a function needs to know where all indirect jumps of the
// function lead, because one might lead into it. At the entry it does not: the first instructions lead to the code that
// reads a table, and compilers put the labels that a table refers to behind that code. Known tables are checked there,
// too.
//
// The first call decodes all code of the file: see Targets. The bytes are those of the file. The caller has to compare
// them with those of the process.
func (w Windows) At(vaddr uint64) (arch.Window, error) {
	return w.over(vaddr, vaddr)
}

// over is At for a window that includes the instruction at last.
func (w Windows) over(vaddr, last uint64) (arch.Window, error) {
	fn, ok := w.FuncAt(vaddr)
	if !ok || !w.IsText(vaddr) {
		return refuse(vaddr, "no function is known there")
	}
	found, err := w.cutWindow(vaddr, last, fn)
	if err != nil {
		return found, err
	}
	if reason := w.reached(&found, fn); reason != "" {
		return refuse(vaddr, reason)
	}
	entry := vaddr == fn.Addr && fn.IsEntry()
	if len(found.Insns) > 1 && (!entry || last != vaddr) {
		if reason := w.windows.flow.of(w, fn).unclear; reason != "" {
			return refuse(vaddr, reason)
		}
	}
	found.RedZoneFree = found.RedZoneFree || entry
	return found, nil
}

// Around returns a window that contains the instruction at an address, and its index in the window. It is that of At if
// a jump fits at the address. Otherwise the window starts at one of the instructions in front, if that makes room: a
// return at the end of a function is often shorter than a jump. The error is that of At.
func (w Windows) Around(vaddr uint64) (found arch.Window, index int, err error) {
	found, err = w.At(vaddr)
	if err == nil {
		return found, 0, nil
	}
	fn, ok := w.FuncAt(vaddr)
	if !ok {
		return found, 0, err
	}
	for _, start := range w.before(fn, vaddr) {
		if around, failed := w.over(start, vaddr); failed == nil {
			if i := slices.IndexFunc(around.Insns, func(in arch.Insn) bool { return in.Addr == vaddr }); i >= 0 {
				return around, i, nil
			}
		}
	}
	return found, 0, err
}

// To returns the window of a jump at the entry of a function that ends with the instruction at an address. The caller
// knows that no indirect jump leads to what is in between, as to the check of the stack with which functions of Go
// begin.
func (w Windows) To(entry, vaddr uint64) (arch.Window, error) {
	fn, ok := w.FuncAt(entry)
	if !ok || fn.Addr != entry {
		return refuse(entry, "no function is known there")
	}
	found, err := w.cutWindow(entry, vaddr, fn)
	if err != nil {
		return found, err
	}
	if reason := w.reached(&found, fn); reason != "" {
		return refuse(entry, reason)
	}
	return found, nil
}

// before returns the instructions in front of an address of a function that a window may start at, the nearest first.
// The last of them is far enough away for a jump to fit in front of the address, so that no other is better.
func (w Windows) before(fn *symtab.Func, vaddr uint64) []uint64 {
	insns := w.windows.flow.of(w, fn).insns
	n, _ := slices.BinarySearch(insns, vaddr)
	var starts []uint64
	for n--; n >= 0; n-- {
		starts = append(starts, insns[n])
		if insns[n]+uint64(w.arch.JumpLen()) <= vaddr {
			break
		}
	}
	return starts
}

// refuse returns the error of a place where no jump fits.
func refuse(vaddr uint64, reason string) (arch.Window, error) {
	return arch.Window{}, &arch.WindowError{Addr: vaddr, Reason: reason}
}

// cutWindow returns the window at an address of a function, as far as the bytes of the function are concerned. Behind
// the function there may be padding, which the window of a return may include, but no instruction of the window.
func (w Windows) cutWindow(vaddr, last uint64, fn *symtab.Func) (arch.Window, error) {
	code, err := w.Code(vaddr, windowCode)
	if err != nil {
		return refuse(vaddr, err.Error())
	}
	own := code[:min(uint64(len(code)), fn.End()-vaddr)]
	found, err := w.arch.WindowOver(own, vaddr, last)
	if err == nil {
		return found, nil
	}
	if padded, e := w.arch.WindowOver(code, vaddr, last); e == nil {
		if last := padded.Insns[len(padded.Insns)-1]; last.Addr+uint64(last.Len) <= fn.End() {
			return padded, nil
		}
	}
	return arch.Window{}, err
}

// reached returns what leads into the middle of a window, or "".
func (w Windows) reached(jump *arch.Window, fn *symtab.Func) string {
	if name, ok := w.startIn(jump.Addr, jump.End()); ok {
		return name + " begins in the bytes that the jump would replace"
	}
	t := w.Targets()
	if t.err != nil {
		return t.err.Error()
	}
	if s, ok := t.Sequence(jump.Addr, jump.End()); ok {
		return fmt.Sprintf("it is in the restartable sequence at %#x", s.Start)
	}
	arrival, ok := t.Into(jump.Addr, jump.End())
	if !ok {
		return ""
	}
	switch arrival.Kind {
	case ByException:
		return "exceptions are handled in the bytes that the jump would replace"
	case ByPointer:
		return "a pointer or jump table leads into the bytes that the jump would replace"
	}
	return w.branchInto(fn, arrival.Addr) + " leads into the bytes that the jump would replace"
}

// unnamed is what messages call a function without a name.
const unnamed = "another function"

// startIn returns the function or the piece of one that starts between two addresses.
func (w Windows) startIn(start, end uint64) (name string, ok bool) {
	funcs := w.Funcs()
	if i := sort.Search(len(funcs), func(i int) bool { return funcs[i].Addr > start }); i < len(funcs) && funcs[i].Addr < end {
		return cmp.Or(funcs[i].Name, unnamed), true
	}
	if at, ok := w.frameAfter(start); ok && at < end {
		return unnamed, true
	}
	return "", false
}

// branchInto names the branch that leads to an address of a function.
func (w Windows) branchInto(fn *symtab.Func, target uint64) string {
	found := "a branch of another function"
	code, err := w.Code(fn.Addr, int(min(fn.Size, maxIndexed)))
	if err != nil {
		return found
	}
	w.arch.Branches(code, fn.Addr, func(b arch.Branch) {
		if b.Kind <= arch.BranchCall && b.Target == target {
			found = fmt.Sprintf("the branch at %#x", b.Addr)
		}
	})
	return found
}
