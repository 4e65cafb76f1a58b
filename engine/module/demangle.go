package module

import (
	"strings"
	"sync"

	"github.com/ianlancetaylor/demangle"
)

// forms are the ways in which a mangled name may be asked for, without parameters.
type forms struct {
	plain string // "geo::twice<long>"
	bare  string // without template arguments and the brackets of Rust's inherent methods: "geo::twice"
	// long is plain with the standard library's names spelled out, "std::basic_ostream<char, …>::put" for "std::ostream::put";
	// empty where nothing is abbreviated. Tools differ in which they show.
	long string
}

// demangled keeps what demangling has found out. Demangling a heavy C++ name takes some 50 µs.
type demangled struct {
	mu    sync.Mutex
	known map[string]forms // by mangled name without clone suffix
}

// maxDemangled bounds a demangled name to 2^16 bytes: names can be made to explode.
const maxDemangled = 16

// isMangled reports whether a name has the look of a C++ or Rust mangled one.
func isMangled(name string) bool {
	return strings.HasPrefix(name, "_Z") || strings.HasPrefix(name, "_R") || strings.HasPrefix(name, "__Z")
}

// of returns the forms of a name; ok is false for names that are not mangled.
func (d *demangled) of(name string) (forms, bool) {
	if !isMangled(name) {
		return forms{}, false
	}
	name = strings.TrimSuffix(name, cloneSuffix(name))
	d.mu.Lock()
	defer d.mu.Unlock()
	// Failures are kept as well, so that a name that only looks mangled is tried once.
	if f, ok := d.known[name]; ok {
		return f, f.plain != ""
	}
	f := demangleForms(name)
	if d.known == nil {
		d.known = map[string]forms{}
	}
	d.known[name] = f
	return f, f.plain != ""
}

// demangleForms does the work: one demangling, and a second one for the few names that abbreviate.
func demangleForms(name string) forms {
	plain, err := demangle.ToString(name, demangle.NoParams, demangle.MaxLength(maxDemangled))
	if err != nil {
		return forms{}
	}
	f := forms{plain: withoutTags(plain)}
	f.bare = bareName(f.plain)
	if abbreviates(name) {
		long, _ := demangle.ToString(name, demangle.NoParams, demangle.Verbose, demangle.MaxLength(maxDemangled))
		f.long = withoutTags(long)
	}
	return f
}

// abbreviates reports whether a mangled name may use one of the abbreviations of the C++ ABI for std::string, std::ostream and
// the like (Itanium C++ ABI, 5.1.10).
func abbreviates(name string) bool {
	for i := 0; i+1 < len(name); i++ {
		if name[i] == 'S' && strings.IndexByte("abdios", name[i+1]) >= 0 {
			return true
		}
	}
	return false
}

// Demangle makes a name readable: "geo::twice<long>" of "_ZN3geo5twiceIlEET_S1_", with params as "long geo::twice<long>(long)".
// What a compiler added to the name of a changed function is left out. Other names come back as they are.
func Demangle(name string, params bool) string {
	if !isMangled(name) {
		return name
	}
	name = strings.TrimSuffix(name, cloneSuffix(name))
	options := []demangle.Option{demangle.MaxLength(maxDemangled)}
	if !params {
		options = append(options, demangle.NoParams)
	}
	return demangle.Filter(name, options...)
}

// Demangled is the readable form of the preferred name, without parameters.
func (fn *Func) Demangled() string { return Demangle(fn.Name, false) }

// withoutTags drops ABI tags: "f[abi:cxx11]" is "f" in the source.
func withoutTags(name string) string {
	for {
		i := strings.Index(name, "[abi:")
		if i < 0 {
			return name
		}
		end := strings.IndexByte(name[i:], ']')
		if end < 0 {
			return name
		}
		name = name[:i] + name[i+end+1:]
	}
}

// bareName drops template arguments: "geo::twice<long>" is "geo::twice", Rust's "f::<u8>" is "f", and
// "<rusty::Counter>::bump" is "rusty::Counter::bump". "<T as Trait>::f" stays, as it would name nothing otherwise.
func bareName(name string) string {
	if strings.HasPrefix(name, "<") {
		end := closing(name)
		inner := name[1:max(end, 1)]
		if end < 0 || strings.Contains(inner, " as ") {
			return name
		}
		return bareName(inner) + bareName(name[end+1:])
	}
	var b strings.Builder
	for i := 0; i < len(name); {
		// The brackets of operators are none; they have to be taken before anything is counted.
		if n := operatorLen(name, i); n > 0 {
			b.WriteString(name[i : i+n])
			i += n
			continue
		}
		if name[i] == '<' {
			if end := closing(name[i:]); end > 0 {
				i += end + 1
				continue
			}
		}
		b.WriteByte(name[i])
		i++
	}
	return cleanPath(b.String())
}

// cleanPath removes the "::" that a dropped "::<u8>" left, and blanks before it ("operator<< <int>").
func cleanPath(name string) string {
	name = strings.ReplaceAll(name, "::::", "::")
	return strings.TrimRight(strings.TrimSuffix(name, "::"), " ")
}

// bracketed are the operators that have brackets in their names, the longer before what they begin with.
var bracketed = []string{"<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "<", ">"}

// operatorLen is the length of an operator's name at i that has brackets in it ("operator<<"), 0 elsewhere.
func operatorLen(name string, i int) int {
	const word = "operator"
	if !strings.HasPrefix(name[i:], word) || (i > 0 && isIdent(name[i-1])) {
		return 0
	}
	for _, op := range bracketed {
		if strings.HasPrefix(name[i+len(word):], op) {
			return len(word) + len(op)
		}
	}
	return 0
}

// closing is the index of the bracket that closes the one at the start, or -1.
func closing(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '<':
			depth++
		case '>':
			if i > 0 && s[i-1] == '-' {
				continue // an arrow
			}
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// isIdent reports whether a byte may be part of an identifier.
func isIdent(c byte) bool {
	return c == '_' || c == '$' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
