package symname

import (
	"strings"
	"sync"

	"github.com/ianlancetaylor/demangle"
)

// forms are the readable forms of a mangled name, without parameters.
type forms struct {
	plain string // "geo::twice<long>"
	bare  string // without template arguments and the brackets of Rust's inherent methods: "geo::twice"
	// long is plain with the standard library's names spelled out, "std::basic_ostream<char, …>::put" for
	// "std::ostream::put"; empty where nothing is abbreviated. Tools differ in which they show.
	long string
}

// Cache keeps the readable forms of mangled names: demangling a long C++ name takes about 50 µs. The zero Cache is
// empty. It is safe for concurrent use.
type Cache struct {
	mu    sync.Mutex
	known map[string]forms // by mangled name without clone suffix
}

// maxDemangled bounds a readable name to 2^16 bytes. Short mangled names can stand for endless ones.
const maxDemangled = 16

// IsMangled reports whether a name looks like a mangled C++ or Rust name.
func IsMangled(name string) bool {
	return strings.HasPrefix(name, "_Z") || strings.HasPrefix(name, "_R") || strings.HasPrefix(name, "__Z")
}

// of returns the forms of a name. ok is false for names that are not mangled.
func (d *Cache) of(name string) (forms, bool) {
	if !IsMangled(name) {
		return forms{}, false
	}
	name = strings.TrimSuffix(name, CloneSuffix(name))
	d.mu.Lock()
	defer d.mu.Unlock()
	// Failures are cached, too, so that a name that only looks mangled is tried once.
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

// demangleForms demangles a name, and a second time if it may have abbreviations.
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

// abbreviates reports whether a mangled name may use the abbreviations of the C++ ABI for std::string, std::ostream and
// others (Itanium C++ ABI, 5.1.10).
func abbreviates(name string) bool {
	for i := 0; i+1 < len(name); i++ {
		if name[i] == 'S' && strings.IndexByte("abdios", name[i+1]) >= 0 {
			return true
		}
	}
	return false
}

// Demangle returns the readable form of a name: "geo::twice<long>" for "_ZN3geo5twiceIlEET_S1_", and with params "long
// geo::twice<long>(long)". It drops compiler suffixes such as ".constprop.0", and returns other names unchanged.
func Demangle(name string, params bool) string {
	if !IsMangled(name) {
		return name
	}
	name = strings.TrimSuffix(name, CloneSuffix(name))
	options := []demangle.Option{demangle.MaxLength(maxDemangled)}
	if !params {
		options = append(options, demangle.NoParams)
	}
	return demangle.Filter(name, options...)
}

// withoutTags drops ABI tags: "f[abi:cxx11]" becomes "f", as in the source.
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

// Bare drops template arguments: "geo::twice<long>" becomes "geo::twice".
func Bare(name string) string { return bareName(name) }

// bareName drops template arguments: "geo::twice<long>" becomes "geo::twice", Rust's "f::<u8>" becomes "f", and
// "<rusty::Counter>::bump" becomes "rusty::Counter::bump". "<T as Trait>::f" is unchanged, because the rest would be
// meaningless.
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
		// The characters of operators are not brackets, so they are copied before brackets are counted.
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

// cleanPath removes the "::" left by a dropped "::<u8>", and spaces before it ("operator<< <int>").
func cleanPath(name string) string {
	name = strings.ReplaceAll(name, "::::", "::")
	return strings.TrimRight(strings.TrimSuffix(name, "::"), " ")
}

// bracketed are the operators with brackets in their names, longer ones before their prefixes.
var bracketed = []string{"<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "<", ">"}

// operatorLen returns the length of the operator name with brackets at i ("operator<<"), or 0.
func operatorLen(name string, i int) int {
	const word = "operator"
	if !strings.HasPrefix(name[i:], word) || (i > 0 && IsIdent(name[i-1])) {
		return 0
	}
	for _, op := range bracketed {
		if strings.HasPrefix(name[i+len(word):], op) {
			return len(word) + len(op)
		}
	}
	return 0
}

// closing returns the index of the bracket that closes the first one, or -1.
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

// IsIdent reports whether a byte may be part of an identifier.
func IsIdent(c byte) bool {
	return c == '_' || c == '$' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
