package symname

import (
	"regexp"
	"strings"
	"sync"
)

// Query is a pattern prepared for comparing it with many names. It is immutable.
type Query struct {
	text    string
	glob    bool
	scoped  bool     // has "::"
	mangled bool     // is written in mangled form
	params  bool     // has a parenthesis, so it may have parameters
	tight   string   // without spaces, when it has template arguments
	prefix  string   // with which a readable name must start
	parts   []string // identifiers that a mangled name must contain
}

// NewQuery prepares a pattern once for a hundred thousand names.
func NewQuery(pattern string) *Query {
	pattern = strings.ReplaceAll(pattern, "[...]", "[*]") // Go's tracebacks write type arguments as "..."
	if i := strings.IndexByte(pattern, '('); i >= 0 {
		pattern = pattern[:i] + constBehind(pattern[i:])
	}
	q := &Query{
		text: pattern, glob: IsGlob(pattern), scoped: strings.Contains(pattern, "::"),
		mangled: IsMangled(pattern), params: strings.Contains(pattern, "("),
	}
	if strings.Contains(pattern, "<") {
		q.tight = strings.ReplaceAll(pattern, " ", "")
	}
	end := 0
	for end < len(pattern) && IsIdent(pattern[end]) {
		end++
	}
	q.prefix = pattern[:end]
	if _, isExpression := expression(pattern); !isExpression && len(alternatives(pattern)) == 1 {
		q.parts = identifiers(pattern)
	}
	return q
}

// Parts returns texts that every name contains, mangled or not, that the query may match, as long as the name does not
// lose type arguments of Go in between. Without any, it may match all names.
func (q *Query) Parts() []string { return q.parts }

// leadingConst matches a const before the type it qualifies.
var leadingConst = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`([(,<]\s*)const\s+((?:unsigned |signed |long |short )*[\w:]+)`)
})

// constBehind moves const behind the types, as in readable names: "(char const*)" for "(const char*)".
func constBehind(params string) string { return leadingConst().ReplaceAllString(params, "$1$2 const") }

// Match compares a symbol's name, mangled and readable, and returns the name to report: the readable one without
// parameters if there is one, unless the pattern is mangled. Readable forms are kept in c. Pieces of functions match
// only their full name, and cold ones not even that.
func (q *Query) Match(c *Cache, name string) (string, bool) {
	reported, ok := q.match(c, name)
	if !ok || IsCold(name) || !q.glob && IsPart(name) {
		return "", false
	}
	return reported, true
}

// match is Match for names of pieces, too.
func (q *Query) match(c *Cache, name string) (string, bool) {
	if q.equal(name) {
		// A pattern may match the mangled form by chance; the readable one is still reported.
		if q.mangled {
			return name, true
		}
		if d, ok := c.of(name); ok {
			return d.plain, true
		}
		return name, true
	}
	if !IsMangled(name) {
		generic := WithoutTypeArgs(name)
		return name, generic != name && q.equal(generic)
	}
	if q.mangled || !q.candidate(name) {
		return "", false
	}
	d, ok := c.of(name)
	if !ok {
		return "", false
	}
	if q.equal(d.plain) || q.equal(d.bare) || q.equalTemplate(d.plain) || q.equalTemplate(d.long) || q.params && q.equalSignature(name) ||
		d.long != "" && (q.equal(d.long) || q.equal(bareName(d.long))) {
		return d.plain, true
	}
	return "", false
}

// equal compares a whole name with the pattern.
func (q *Query) equal(name string) bool {
	if q.glob {
		return Glob(q.text, name)
	}
	return q.text == name
}

// equalTemplate compares a name with its template arguments, ignoring spaces, which tools write differently.
func (q *Query) equalTemplate(name string) bool {
	if q.tight == "" || name == "" {
		return false
	}
	name = strings.ReplaceAll(name, " ", "")
	return q.tight == name || q.glob && Glob(q.tight, name)
}

// equalSignature compares a name with its parameters, ignoring spaces.
func (q *Query) equalSignature(name string) bool {
	pattern, full := strings.ReplaceAll(q.text, " ", ""), strings.ReplaceAll(Signature(name), " ", "")
	if q.glob {
		return Glob(pattern, full) || pattern == full
	}
	return pattern == full || pattern+"const" == full
}

// Signature returns the readable name with parameters, but without the type that template functions return.
func Signature(name string) string {
	full, plain := withoutTags(Demangle(name, true)), withoutTags(Demangle(name, false))
	if i := strings.Index(full, plain); i > 0 {
		return full[i:]
	}
	return full
}

// candidate reports whether a mangled name may match once it is demangled. It avoids demangling, which is expensive.
func (q *Query) candidate(name string) bool {
	// A readable name without scope starts with the first identifier of the mangled one. With a scope it may start with
	// an abbreviation such as St for "std".
	if q.prefix != "" && !q.scoped {
		if first, ok := firstIdent(name); ok && !strings.HasPrefix(first, q.prefix) {
			return false
		}
	}
	for _, part := range q.parts {
		if !strings.Contains(name, part) {
			return false
		}
	}
	return true
}

// firstIdent returns the first identifier of a C++ or old Rust name: its namespace, class or function. ok is false for
// names that start with something else, such as an abbreviation.
func firstIdent(name string) (ident string, ok bool) {
	rest, ok := strings.CutPrefix(name, "_Z")
	if !ok {
		return "", false
	}
	rest = strings.TrimPrefix(rest, "N")
	rest = strings.TrimLeft(rest, "rVKRO")
	rest = strings.TrimPrefix(rest, "L")
	n, i := 0, 0
	for i < len(rest) && '0' <= rest[i] && rest[i] <= '9' && n < 1<<20 { // the bound prevents overflow
		n = 10*n + int(rest[i]-'0')
		i++
	}
	if n == 0 || n > len(rest)-i {
		return "", false
	}
	return rest[i : i+n], !strings.HasPrefix(rest[i:], "_GLOBAL__N")
}

// abbreviated are words of readable names that mangled names may abbreviate or write differently.
const abbreviated = " std string allocator basic_string basic_istream basic_ostream basic_iostream istream ostream iostream" +
	" char_traits operator new delete int char short long unsigned signed bool float double void wchar_t char8_t char16_t" +
	" char32_t __int128 __float128 auto decltype nullptr_t const volatile restrict noexcept anonymous namespace lambda unnamed" +
	" type clone guard variable for vtable typeinfo name thunk virtual non covariant return to transaction initializer" +
	" dyn as mut str i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize f32 f64 closure shim impl true false enum struct" +
	" sizeof typeid co_await unsafe extern fn "

// identifiers returns the parts of a pattern that every mangled form of a matching name contains: runs of identifier
// characters outside sets, without words that mangling abbreviates.
func identifiers(pattern string) []string {
	var parts []string
	for i := 0; i < len(pattern); {
		if pattern[i] == '[' {
			i += max(setLen(pattern[i:]), 1)
			continue
		}
		if !IsIdent(pattern[i]) {
			i++
			continue
		}
		start := i
		for i < len(pattern) && IsIdent(pattern[i]) {
			i++
		}
		if word := pattern[start:i]; spelledOut(word) {
			parts = append(parts, word)
		}
	}
	return parts
}

// spelledOut reports whether mangled names contain a word unchanged: it is not a number, is ASCII, and is not part of
// an abbreviated word.
func spelledOut(word string) bool {
	digits := true
	for i := 0; i < len(word); i++ {
		if word[i] >= 0x80 {
			return false
		}
		digits = digits && '0' <= word[i] && word[i] <= '9'
	}
	return !digits && !strings.Contains(abbreviated, word)
}
