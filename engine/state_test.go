package engine

import (
	"fmt"

	"gotap/engine/threadstate"
)

// An illegal change of a thread's state fails the test in which it happens: a panic on the tracing thread ends the
// session, and Close returns it.
func init() {
	threadstate.Illegal = func(from, to threadstate.State) {
		panic(fmt.Sprintf("a thread goes from %v to %v", from, to))
	}
}
