package place

import (
	"fmt"
	"strings"
	"time"

	"gotap/engine/image/symname"
)

// Kind is the kind of place that a specification names.
type Kind uint8

// The kinds of places.
const (
	Function Kind = iota // a function, or an instruction of it
	Address              // an address in a file, or without a module in the process
	Line                 // a source line
	Mark                 // a static mark: usdt:
	Watch                // a data watchpoint: watch:
	Syscall              // system calls by name: syscall:
	Sample               // no place but moments: sample:
)

// String returns the kind in a word.
func (k Kind) String() string {
	return [...]string{Function: "function", Address: "address", Line: "line", Mark: "mark", Watch: "watchpoint", Syscall: "syscall", Sample: "sample"}[k]
}

// Access is the kind of access that a watchpoint waits for.
type Access uint8

// The accesses.
const (
	OnWrite     Access = iota // "w"
	OnReadWrite               // "rw"
	OnExecute                 // "x"
)

var accessNames = [...]string{OnWrite: "w", OnReadWrite: "rw", OnExecute: "x"}

// String returns the access as in specifications.
func (a Access) String() string { return accessNames[a] }

// Set is a word before a name in brackets, which selects functions.
type Set uint8

// The sets.
const (
	Named    Set = iota // no word: the functions of the name
	Exported            // exported("NAME"): those of them that their file exports
	Callees             // callees("NAME"): the functions that they call
)

// setWords are the words of sets.
var setWords = [...]string{Exported: "exported", Callees: "callees"}

// Spec is a parsed specification: [MODULE:]PLACE, usdt:[MODULE:]PROVIDER:NAME, watch:PLACE/LEN/w|rw|x, syscall:NAME
// or sample:cpu|wall/PERIOD.
// The module of a mark or a watchpoint may precede the word, too. The zero value names nothing. Specs are comparable.
type Spec struct {
	Kind   Kind
	Module string // path, file name, library name or pattern; "" when none is given

	Name     string // Function, Mark, Syscall: name or pattern; Watch: the variable, "" for an address
	Provider string // Mark: name or pattern
	Offset   uint64 // Function, Watch: added to the address
	HasOff   bool   // an offset was written, even if it is 0
	Every    bool   // Function: "+*", all instructions
	Of       Set    // Function: which of the functions that Name means, or which others
	Addr     uint64 // Address; Watch without a name

	File     string // Line, Function: as written
	Line     int    // Line: from 1; Function: with Relative
	Last     int    // Line: the last of several; AllLines; 0: only one
	Column   int    // Line: from 1; 0: any
	Relative bool   // Function: the code so many lines below its declaration

	Len    int    // Watch: 1, 2, 4 or 8 bytes
	Access Access // Watch

	Period time.Duration // Sample: of at least ShortestPeriod
	Wall   bool          // Sample: also threads that do not run
}

// Pattern reports whether the name, the provider or the module has wildcards, so that any number of places may match.
func (s Spec) Pattern() bool {
	return s.Kind == Line && s.Last > 0 || s.Of == Callees || s.Kind != Line && (symname.IsGlob(s.Name) || symname.IsGlob(s.Provider) || symname.IsGlob(s.Module))
}

// OneModule reports whether the place names one module, and not any or those that match a pattern.
func (s Spec) OneModule() bool { return s.Module != "" && !symname.IsGlob(s.Module) }

// Absolute reports whether the place is an address of the process and not of a file.
func (s Spec) Absolute() bool {
	return s.Module == "" && (s.Kind == Address || s.Kind == Watch && s.Name == "")
}

// Matches reports whether the name of the specification, which may be a pattern, matches a name. It selects system
// calls.
func (s Spec) Matches(name string) bool { return matchName(s.Name, name) }

// matchName reports whether a name or pattern matches a name.
func matchName(pattern, name string) bool {
	return pattern == name || symname.IsGlob(pattern) && symname.Glob(pattern, name)
}

// String returns the text of the specification. Parse returns the same Spec for it.
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
		b.WriteString("@" + s.lines())
	case Address:
		fmt.Fprintf(&b, "0x%x", s.Addr)
	case Watch:
		if s.Name == "" {
			fmt.Fprintf(&b, "0x%x", s.Addr)
		}
		fmt.Fprintf(&b, "%s%s/%d/%s", s.Name, s.offset(), s.Len, s.Access)
	case Sample:
		fmt.Fprintf(&b, "%s/%v", s.clock(), s.Period)
	default:
		if s.Of != Named {
			return b.String() + setWords[s.Of] + `("` + s.Name + `")`
		}
		b.WriteString(s.Name + s.offset())
		if s.File != "" {
			b.WriteString("@" + s.File)
		}
		if s.Relative {
			fmt.Fprintf(&b, ":+%d", s.Line)
		}
	}
	return b.String()
}

// offset returns the text of the offset, or "".
func (s Spec) offset() string {
	switch {
	case s.Every:
		return "+*"
	case s.HasOff:
		return fmt.Sprintf("+0x%x", s.Offset)
	}
	return ""
}
