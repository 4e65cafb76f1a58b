package registry

import (
	"fmt"

	"gotap/compile"
	"gotap/engine/image/debuginfo"
	"gotap/engine/image/goabi"
	"gotap/engine/image/module"
	"gotap/engine/place"
)

// GoFunction returns the function whose entry a target is, if Go's compiler or assembler made it: its calls differ
// from those of C.
func GoFunction(t place.Target) (module.GoFunc, bool) {
	if !t.Entry() || !t.File.IsGo() {
		return module.GoFunc{}, false
	}
	fn, ok := t.File.GoFuncAt(t.Vaddr)
	return fn, ok && fn.Addr == t.Vaddr
}

// PlantedAt returns the address of the breakpoint for a target, in its file. It is the target's own address, except
// for Go functions that check their stack first: they start again after the stack had to grow, and would be counted
// twice.
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

// GoCompiled returns the calling convention of the function at a target if Go's compiler made it, and nil
// otherwise. Such a function runs on a goroutine.
func GoCompiled(t place.Target) *goabi.Convention {
	if fn, ok := GoFunction(t); ok && !fn.Assembly {
		return goabi.Of(t.File.Machine)
	}
	return nil
}

// goArg returns integer argument n of a Go function: word n of its parameters according to debug information;
// without debug information, the register of Go's convention, or for assembly the word on the stack.
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

// resultError reports a result of Go that lies on the stack at an unknown place.
type resultError struct {
	name string
	err  error
}

func (e *resultError) Error() string {
	return fmt.Sprintf("cannot find the result of %s: on this processor Go has results on the stack, behind the arguments: %v", e.name, e.err)
}

// Unwrap makes the reason available to errors.Is.
func (e *resultError) Unwrap() error { return e.err }

// Hint returns what to do.
func (e *resultError) Hint() string {
	return "build the program with debug information (without -ldflags=-w or -s), or read the stack: the first argument is u32(c.sp + 4) in enter"
}

// goResult returns the reason why c.ret cannot be read for a Go function whose result debug information does not
// locate and that returns it in no register.
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
