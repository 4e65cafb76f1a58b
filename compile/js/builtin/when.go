package builtin

import (
	"gotap/compile/diag"
	"gotap/compile/js"
)

// speaks are the builtins that a predicate cannot use: what it did for a hit that it then turns down would have to be
// undone. abort is not one of them: it rejects the hit.
var speaks = map[string]bool{"log": true, "print": true, "console.log": true, "printf": true, "emit": true, "exit": true, "exit.hold": true,
	"exit.dump": true, "exit.stop": true, "remove": true, "skip": true, "signal": true}

// onlyDecides refuses what a predicate cannot do, by the name of the builtin or method.
func (s *Call) onlyDecides(name string, at diag.Span) bool {
	if s.fetch.Handler != js.When {
		return true
	}
	s.Errorf(at, "do it in enter or leave: they run for the hits that when accepts", "%s cannot be used in when, which only decides", name)
	return false
}
