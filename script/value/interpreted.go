package value

import (
	"fmt"
	"path"
)

// interpreted reports whether a symbol is a frame of an interpreted function, which has a name but no address.
func (y Symbol) interpreted() bool { return y.Addr == 0 && y.Func != "" }

// interpretedText returns the frame as stacks print it: "fib (prog.py:3)".
func (y Symbol) interpretedText() string {
	switch {
	case y.File == "":
		return y.Func + " (" + y.Module + ")"
	case y.Line == 0:
		return fmt.Sprintf("%s (%s)", y.Func, path.Base(y.File))
	}
	return fmt.Sprintf("%s (%s:%d)", y.Func, path.Base(y.File), y.Line)
}
