package registry

import (
	"cmp"
	"fmt"
	"strings"

	"gotap/engine/image/debuginfo"
)

// CopiedPlace is what a PlaceInfo implements besides when the place may be a function that has inlined copies: calls
// that a probe on it does not see.
type CopiedPlace interface {
	// Copies are the inlined copies of the function, by debug information; ok is false when none is known. It reads much of that,
	// and is not for the way of a hit.
	Copies() (c Copies, ok bool)
}

// Copies are the inlined copies of a function that has code of its own as well.
type Copies struct {
	Func  string
	Calls []debuginfo.Copy

	info *debuginfo.Info
	addr uint64
}

// Body is the place of a line that most copies have in common, "@file.c:12", and how often there is code of it, in the function
// itself and in copies; 0 when none is known. It reads more of the debug information.
func (c Copies) Body() (place string, n int) {
	file, line, n := c.info.Body(c.addr)
	return fmt.Sprintf("@%s:%d", file, line), n
}

// Where lists the calls for people: "main at a.c:12, 20 and 22, work at a.c:31".
func (c Copies) Where() string {
	var parts []string
	for i := 0; i < len(c.Calls); {
		call, end := c.Calls[i], i+1
		for end < len(c.Calls) && c.Calls[end].Caller == call.Caller && c.Calls[end].File == call.File {
			end++
		}
		parts = append(parts, together(c.Calls[i:end]))
		i = end
	}
	return strings.Join(parts, ", ")
}

// together is calls by one function from one file.
func together(calls []debuginfo.Copy) string {
	text := cmp.Or(calls[0].Caller, "?")
	if calls[0].File == "" {
		return text
	}
	for i, call := range calls {
		switch i {
		case 0:
			text += fmt.Sprintf(" at %s:%d", call.File, call.Line)
		case len(calls) - 1:
			text += fmt.Sprintf(" and %d", call.Line)
		default:
			text += fmt.Sprintf(", %d", call.Line)
		}
	}
	return text
}

var _ CopiedPlace = (*Info)(nil)

// Copies implements CopiedPlace.
func (i *Info) Copies() (Copies, bool) {
	in, ok := i.Files.Info(i.Target.File)
	if !ok || !i.Target.Entry() {
		return Copies{}, false
	}
	calls, err := in.Copies(i.Target.Func.Addr)
	if err != nil || len(calls) == 0 {
		return Copies{}, false
	}
	return Copies{i.Target.Symbol, calls, in, i.Target.Func.Addr}, true
}
