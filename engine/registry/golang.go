package registry

import (
	"fmt"

	"gotap/compile"
	"gotap/engine/image/debuginfo"
	"gotap/engine/image/goabi"
	"gotap/engine/image/module"
	"gotap/engine/place"
)

// GoFunction is the function that a target is the entry of, when Go's compiler or assembler made it: their calls differ
// from those of C.
func GoFunction(t place.Target) (module.GoFunc, bool) {
	if !t.Entry() || !t.File.IsGo() {
		return module.GoFunc{}, false
	}
	fn, ok := t.File.GoFuncAt(t.Vaddr)
	return fn, ok && fn.Addr == t.Vaddr
}

// PlantedAt is the address of the breakpoint for a target, in its file. It is the target's own but for Go functions that check
// their stack first: they start over when it had to grow, and would be counted twice.
func PlantedAt(t place.Target) uint64 {
	fn, ok := GoFunction(t)
	c := goabi.Of(t.File.Machine)
	if !ok || c == nil {
		return t.Vaddr
	}
	code, err := t.File.Code(fn.Addr, int(fn.Size))
	if err != nil {
		return t.Vaddr
	}
	if behind, ok := c.BehindCheck(code, fn.Addr); ok {
		return behind
	}
	return t.Vaddr
}

// GoCompiled is the convention by which the function at a target is called, when Go's compiler made it; nil otherwise. It runs on a
// goroutine.
func GoCompiled(t place.Target) *goabi.Convention {
	if fn, ok := GoFunction(t); ok && !fn.Assembly {
		return goabi.Of(t.File.Machine)
	}
	return nil
}

// goArg is integer argument n of a Go function: word n of what debug information says it takes, without that the register of
// Go's convention, or the word on the stack for assembly.
func (i *Info) goArg(n int) (compile.Access, bool) {
	fn, ok := GoFunction(i.Target)
	c := goabi.Of(i.Target.File.Machine)
	if !ok || c == nil {
		return compile.Access{}, false
	}
	if in, ok := i.Files.Info(i.Target.File); ok && !fn.Assembly {
		if a, ok := in.GoArg(i.Target.Vaddr, n); ok {
			return a, true
		}
	}
	return c.Arg(n, fn.Assembly)
}

// resultError is a result of Go that lies on the stack, nobody knows where.
type resultError struct {
	name string
	err  error
}

func (e *resultError) Error() string {
	return fmt.Sprintf("cannot find the result of %s: on this processor Go has results on the stack, behind the arguments: %v", e.name, e.err)
}

// Unwrap lets errors.Is find the reason.
func (e *resultError) Unwrap() error { return e.err }

// Hint tells what to do.
func (e *resultError) Hint() string {
	return "build the program with debug information (without -ldflags=-w or -s), or read the stack: the first argument is u32(c.sp + 4) in enter"
}

// goResult is why c.ret cannot be read of a Go function whose result debug information does not find, and that has it in no register.
func (i *Info) goResult(err error) error {
	_, ok := GoFunction(i.Target)
	if c := goabi.Of(i.Target.File.Machine); !ok || c == nil || !c.OnStack {
		return nil
	}
	if err == nil {
		err = debuginfo.ErrNone
	}
	return &resultError{i.Target.Name, err}
}
