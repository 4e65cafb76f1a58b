package registry

import (
	"cmp"
	"debug/dwarf"
	"fmt"
	"slices"
	"strings"

	"gotap/engine/image/debuginfo"
)

// CopiedPlace is implemented in addition by a PlaceInfo whose place may be a function with inlined copies: calls
// that a probe on the function does not see.
type CopiedPlace interface {
	// Copies returns the inlined copies of the function, from debug information; ok is false if none is known. It
	// reads much debug information, so it must not be called during a hit.
	Copies() (c Copies, ok bool)
}

// InlinedPlace is implemented in addition by a PlaceInfo whose place may be an inlined copy.
type InlinedPlace interface {
	// InlinedAt returns the address of the copy in its file; ok is false if the place is none.
	InlinedAt() (addr uint64, ok bool)
}

// VersionedPlace is implemented in addition by a PlaceInfo whose place may be a function of which a file has several by
// one name, as versions of a symbol.
type VersionedPlace interface {
	// Start returns the address of the function in its file, or that of an inlined copy.
	Start() uint64
	// Versions returns the names that stand for single versions; there are none for a place that is not a function.
	Versions() []string
}

// Copies are the inlined copies of a function that also has code of its own.
type Copies struct {
	Func  string
	Calls []debuginfo.Copy

	info *debuginfo.Info
	addr uint64
}

// Body returns the place of a line that most copies have in common, "@file.c:12", and how often code of that line
// exists, in the function itself and in copies; n is 0 if there is none. It reads more of the debug information.
func (c Copies) Body() (place string, n int) {
	if c.addr == 0 {
		return "", 0
	}
	file, line, n := c.info.Body(c.addr)
	return fmt.Sprintf("@%s:%d", file, line), n
}

// Without returns the copies that do not begin at some addresses.
func (c Copies) Without(addrs []uint64) Copies {
	c.Calls = slices.DeleteFunc(slices.Clone(c.Calls), func(call debuginfo.Copy) bool { return slices.Contains(addrs, call.PC) })
	return c
}

// Where returns a readable list of the calls: "main at a.c:12, 20 and 22, work at a.c:31".
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

// together returns the text for calls by one function from one file.
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

var _ VersionedPlace = (*Info)(nil)

// Start implements VersionedPlace.
func (i *Info) Start() uint64 { return i.Target.Vaddr }

// Versions implements VersionedPlace. A function that the loader has chosen is there by the name of the symbol.
func (i *Info) Versions() []string {
	if !i.Target.Entry() {
		return nil
	}
	return i.Target.File.Versioned(i.Target.Symbol)
}

// InlinedAt implements InlinedPlace.
func (i *Info) InlinedAt() (addr uint64, ok bool) { return i.Target.Vaddr, i.Target.Copy != nil }

// copied returns the inlined copy that the target begins, if it is one.
func (i *Info) copied() (in *debuginfo.Info, c debuginfo.Copy, ok bool) {
	if i.Target.Copy == nil {
		return nil, c, false
	}
	in, ok = i.Files.Info(i.Target.File)
	return in, debuginfo.Copy{PC: i.Target.Vaddr, Off: dwarf.Offset(i.Target.Copy.Off)}, ok
}

// Copies implements CopiedPlace.
func (i *Info) Copies() (Copies, bool) {
	in, ok := i.Files.Info(i.Target.File)
	if ok && i.Target.Copy != nil {
		calls, err := in.CopiesOf(i.Target.Symbol)
		return Copies{i.Target.Symbol, calls, in, 0}, err == nil && len(calls) > 0
	}
	if !ok || !i.Target.Entry() {
		return Copies{}, false
	}
	calls, err := in.Copies(i.Target.Func.Addr)
	if err != nil || len(calls) == 0 {
		return Copies{}, false
	}
	return Copies{i.Target.Symbol, calls, in, i.Target.Func.Addr}, true
}
