package js

import (
	"fmt"
	"slices"
	"strings"

	"gotap/compile"
	"gotap/compile/diag"
)

// Localed is a Place that knows the local variables in scope there. At a function's entry there are none: nothing is in them yet.
type Localed interface {
	Locals() ([]string, error)
}

// unknownLocal is a name that is no local variable in scope.
type unknownLocal struct {
	name string
	have []string
}

func (e *unknownLocal) Error() string {
	return fmt.Sprintf("no local variable %s is in scope at this place", e.name)
}

// Hint names those that are.
func (e *unknownLocal) Hint() string {
	if len(e.have) == 0 {
		return `those of a function are there from its first lines on: probe("@file.c:42", …)`
	}
	return suggestion(e.name, e.have, "in scope: "+strings.Join(e.have, ", "))
}

// locals are the names of the local variables in scope.
func (l *lowering) locals() ([]string, error) {
	place, ok := l.unit.Place.(Localed)
	if !ok {
		return nil, errNoFiles
	}
	return place.Locals()
}

// localAccess asks where a local variable is, or what lies below it.
func (l *lowering) localAccess(a arguments) (compile.Access, error) {
	have, err := l.locals()
	if err != nil {
		return compile.Access{}, err
	}
	if !slices.Contains(have, a.path[0]) {
		return compile.Access{}, &unknownLocal{a.path[0], have}
	}
	return l.unit.Place.Access(a.path)
}

// goneLocals refuses local variables where the function has returned: its frame is no more.
func (l *lowering) goneLocals(at diag.Span) bool {
	if l.returning() {
		l.errorf(at, `probe the line that returns: "@file.c:42"`, "the local variables are gone when the function returns")
	}
	return l.returning()
}
