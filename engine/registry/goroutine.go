package registry

import (
	"debug/elf"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"gotap/compile"
	"gotap/compile/js"
	"gotap/engine/image/module"
)

// GoroutineError reports that the number of the goroutine is not known at a place.
type GoroutineError struct {
	Place  string
	Reason string
	Help   string
}

// Error returns the place and the reason.
func (e *GoroutineError) Error() string {
	return fmt.Sprintf("cannot tell the goroutine at %s: %s", e.Place, e.Reason)
}

// Hint returns what to do, or "".
func (e *GoroutineError) Hint() string { return e.Help }

// goRegisters are the registers that point to the goroutine in code of Go's compiler
// (src/cmd/compile/abi-internal.md of the Go distribution).
var goRegisters = map[elf.Machine]string{elf.EM_X86_64: "r14", elf.EM_AARCH64: "x28", elf.EM_ARM: "r10"}

// threadPointers are the registers that point behind the thread-local storage of the main program. On other processors
// the goroutine is there only in programs that use C.
var threadPointers = map[elf.Machine]string{elf.EM_X86_64: "fs_base", elf.EM_386: "gs_base"}

// Goroutine implements js.Goroutines. Thread-local storage has the goroutine wherever the thread is. In code of Go's
// compiler a register has it, too, which native code can read; in the runtime itself it may be another's for a moment,
// as when a signal has come.
func (i *Info) Goroutine(member string) (js.Goroutine, error) {
	f := i.Target.File
	fn, ok := module.GoFunc{}, false
	if f.IsGo() {
		fn, ok = f.GoFuncAt(i.Target.Vaddr)
	}
	if ok && !fn.Assembly && i.Target.Func != nil && !strings.HasPrefix(i.Target.Func.Name, "runtime.") && f.Machine != elf.EM_386 {
		g, err := i.globals().offsets(i.Target.Name, f, member)
		g.Register = goRegisters[f.Machine]
		return g, err
	}
	return i.globals().goroutine(i.Target.Name, f, member)
}

// Goroutine implements js.Goroutines.
func (i Other) Goroutine(member string) (js.Goroutine, error) {
	return i.Globals.goroutine(i.Place, nil, member)
}

// goroutine describes the goroutine of a thread that may be anywhere. The file is the place's; nil: none.
func (g *Globals) goroutine(where string, file *module.File, member string) (js.Goroutine, error) {
	var files []*module.File
	if g.Modules != nil {
		files = g.Modules()
	}
	if len(files) == 0 || !files[0].IsGo() {
		return js.Goroutine{}, &GoroutineError{where, "the program is not written in Go", "c.tid is the thread"}
	}
	program := files[0]
	all, err := g.offsets(where, program, member)
	if err != nil {
		return all, err
	}
	if err := g.stored(program, &all); err != nil {
		return all, &GoroutineError{where, err.Error(), "probe a function that Go's compiler made: a register has the goroutine there"}
	}
	if file != program {
		all.Module = program.Path
	}
	return all, nil
}

// stored says where the goroutine is in thread-local storage. Go's own linker puts it into the last word. Another
// linker, which a program with parts in C needs, places the runtime's variable among the others.
func (g *Globals) stored(program *module.File, to *js.Goroutine) error {
	reg, ok := threadPointers[program.Machine]
	if !ok {
		return errors.New("outside of code in Go it is known on x86 only")
	}
	to.Register, to.Stored, to.Offset = reg, true, -8
	if program.ELF().Class == elf.ELFCLASS32 {
		to.Offset = -4
	}
	v, err := g.symbol(program, "runtime.tlsg")
	if errors.Is(err, errNoVariable) || err == nil && !v.TLS {
		return nil
	}
	if err != nil {
		return err
	}
	size, ok := threadStorage(program)
	if !ok {
		return errors.New("the program has no thread-local variables")
	}
	to.Offset = int64(v.Addr) - size
	return nil
}

// offsets returns the offsets of the members of the runtime's structures.
func (g *Globals) offsets(where string, f *module.File, member string) (js.Goroutine, error) {
	all := js.Goroutine{}
	in, ok := g.Files.Info(f)
	if !ok {
		return all, &GoroutineError{where, "the structures of Go's runtime are known from debug information, which " + filepath.Base(f.Path) + " does not have",
			"build it without -ldflags=-s or -w"}
	}
	for _, m := range []struct {
		of, name string
		to       *int64
	}{{"runtime.g", "m", &all.M}, {"runtime.m", "curg", &all.Current}, {"runtime.g", member, &all.Member}} {
		ref, err := in.TypeNamed(0, m.of+" *")
		var a compile.Access
		if err == nil {
			a, err = in.Typed(ref, []string{m.name})
		}
		if err != nil {
			return all, &GoroutineError{where, fmt.Sprintf("%s.%s: %v", m.of, m.name, err), ""}
		}
		for _, step := range a.Steps {
			if step.Op == compile.OpOffset {
				*m.to += step.Offset
			}
		}
	}
	return all, nil
}
