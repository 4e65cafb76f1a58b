package place

import (
	"fmt"
	"strings"

	"gotap/engine/module"
)

// Kind is what a specification names.
type Kind uint8

// The kinds of places.
const (
	Function Kind = iota // a function, or an instruction of it
	Address              // an address in a file, or without a module in the process
	Line                 // a source line
	Mark                 // a static mark: usdt:
	Watch                // a data watchpoint: watch:
	Syscall              // system calls by name: syscall:
)

// Access is what a watchpoint waits for.
type Access uint8

// The accesses.
const (
	OnWrite     Access = iota // "w"
	OnReadWrite               // "rw"
	OnExecute                 // "x"
)

var accessNames = [...]string{OnWrite: "w", OnReadWrite: "rw", OnExecute: "x"}

// String is the access as specifications write it.
func (a Access) String() string { return accessNames[a] }

// Spec is a parsed specification: [MODULE:]PLACE, usdt:[MODULE:]PROVIDER:NAME, watch:PLACE/LEN/w|rw|x or syscall:NAME. The module
// of a mark or a watchpoint may stand in front of the word as well.
// The zero value names nothing. Specs can be compared with ==.
type Spec struct {
	Kind   Kind
	Module string // path, file name, library name or pattern; "" when none is given

	Name     string // Function, Mark, Syscall: name or pattern; Watch: the variable, "" for an address
	Provider string // Mark: name or pattern
	Offset   uint64 // Function, Watch: added to the address
	HasOff   bool   // an offset was written, be it 0
	Every    bool   // Function: "+*", all instructions
	Addr     uint64 // Address; Watch without a name

	File string // Line: as written
	Line int    // Line: from 1

	Len    int    // Watch: 1, 2, 4 or 8 bytes
	Access Access // Watch
}

// Pattern reports whether the name, the provider or the module has wildcards, so that it may mean any number of places.
func (s Spec) Pattern() bool {
	return s.Kind != Line && (module.IsGlob(s.Name) || module.IsGlob(s.Provider) || module.IsGlob(s.Module))
}

// Absolute reports whether the place is an address of the process rather than one of a file.
func (s Spec) Absolute() bool {
	return s.Module == "" && (s.Kind == Address || s.Kind == Watch && s.Name == "")
}

// Matches reports whether the name of the specification, a pattern or not, means a name. It is how system calls are
// chosen.
func (s Spec) Matches(name string) bool { return matchName(s.Name, name) }

// matchName compares a name or pattern with a name.
func matchName(pattern, name string) bool {
	return pattern == name || module.IsGlob(pattern) && module.Glob(pattern, name)
}

// String is the specification as it may be written. Parse of it gives the same Spec.
func (s Spec) String() string {
	var b strings.Builder
	b.WriteString(prefixes[s.Kind])
	if s.Module != "" {
		b.WriteString(s.Module + ":")
	}
	switch s.Kind {
	case Mark:
		b.WriteString(s.Provider + ":" + s.Name)
	case Line:
		fmt.Fprintf(&b, "@%s:%d", s.File, s.Line)
	case Address:
		fmt.Fprintf(&b, "0x%x", s.Addr)
	case Watch:
		if s.Name == "" {
			fmt.Fprintf(&b, "0x%x", s.Addr)
		}
		fmt.Fprintf(&b, "%s%s/%d/%s", s.Name, s.offset(), s.Len, s.Access)
	default:
		b.WriteString(s.Name + s.offset())
	}
	return b.String()
}

// offset is the text of the offset, "" when none was written.
func (s Spec) offset() string {
	switch {
	case s.Every:
		return "+*"
	case s.HasOff:
		return fmt.Sprintf("+0x%x", s.Offset)
	}
	return ""
}
