package symname

import (
	"slices"
	"strings"
)

// cloneMarks start the suffixes that compilers add to the names of functions that they changed or split.
var cloneMarks = []string{".cold", ".part.", ".constprop.", ".isra.", ".lto_priv.", ".llvm.", ".localalias", ".clone.",
	".abi0"}

// CloneSuffix returns the suffix that a compiler added to a name (".constprop.0.cold"), or "". It is asked for each
// name of a symbol table: most have no dot, and a dot of the others is mostly followed by something else.
func CloneSuffix(name string) string {
	for at := strings.IndexByte(name, '.'); at > 0; { // a name that starts with a dot has no suffix
		suffix := name[at:]
		if startsClone(suffix) {
			return suffix
		}
		next := strings.IndexByte(suffix[1:], '.')
		if next < 0 {
			return ""
		}
		at += 1 + next
	}
	return ""
}

// startsClone reports whether a name goes on with such a mark from a dot on.
func startsClone(suffix string) bool {
	if len(suffix) < 2 || strings.IndexByte("acilp", suffix[1]) < 0 { // the first letters of the marks
		return false
	}
	return slices.ContainsFunc(cloneMarks, func(mark string) bool { return strings.HasPrefix(suffix, mark) })
}

// IsPart reports whether a symbol is a piece of a function, not its entry.
func IsPart(name string) bool {
	suffix := CloneSuffix(name)
	return strings.Contains(suffix, ".cold") || strings.Contains(suffix, ".part.")
}

// IsCold reports whether a symbol is the cold piece of a function, which is never called.
func IsCold(name string) bool { return strings.Contains(CloneSuffix(name), ".cold") }

// WithoutTypeArgs drops the type arguments of Go's generic functions: "main.Map[go.shape.int]" of symbol tables and
// "main.Map[...]" of Go's own table become "main.Map"; a method of a generic type becomes "main.(*List).Len".
func WithoutTypeArgs(name string) string {
	if strings.IndexByte(name, '[') <= 0 {
		return name
	}
	var b strings.Builder
	depth := 0
	for i := 0; i < len(name); i++ {
		switch {
		case name[i] == '[':
			depth++
		case name[i] == ']' && depth > 0:
			depth--
		case depth == 0:
			b.WriteByte(name[i])
		}
	}
	return b.String()
}
