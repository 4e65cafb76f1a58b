// Package trial finds out by trying whether the processor reports accesses to what its debug registers watch.
//
// It depends on nothing of this module, so that tests of any package can ask it.
package trial

import "errors"

// ErrSilent says that debug registers can be set here and report nothing. Some virtual machines are like that; gdb's
// hardware watchpoints do not stop there either.
var ErrSilent = errors.New("the processor reports no access to what its debug registers watch, as in some virtual machines")
