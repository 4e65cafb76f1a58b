package symname

import (
	"iter"
	"sort"
	"strings"

	"gotap/compile/spelling"
)

// Bounds on the work for one message: names demangled, and suggestions.
const (
	suggestDemangled = 2000
	suggestMost      = 3
)

// suggestion is a name and its distance from the wanted one.
type suggestion struct {
	name     string
	distance int
}

// suggester compares names.
type suggester struct{ names *Cache }

// Suggest returns up to three names of symbols, nearest first, that resemble one that was not found: other spellings,
// and qualified names with that last part.
func (c *Cache) Suggest(symbols iter.Seq[string], name string) []string {
	name = strings.Trim(name, "*?")
	if at := strings.IndexByte(name, '@'); at > 0 {
		name = name[:at] // nm writes the version of a symbol behind it; places have none
	}
	if name == "" {
		return nil
	}
	limit := max(1, len(name)/3) // one slip in a short name, more in a long one
	var near []suggestion
	budget := suggestDemangled
	word := spelled(name)
	for symbol := range symbols {
		near = suggester{c}.add(near, symbol, name, word, limit, &budget)
	}
	return bestOf(near)
}

// spelled returns the last part of a name that its mangled form contains: for an operator or a destructor, the class.
func spelled(name string) string {
	last := lastPart(name)
	if strings.HasPrefix(last, "operator") || strings.HasPrefix(last, "~") {
		if scope := strings.TrimSuffix(name, "::"+last); scope != name {
			return lastPart(scope)
		}
	}
	return last
}

// add adds a symbol to the list when it is near and not a piece of a function. A mangled form must contain something
// similar to word.
func (s suggester) add(near []suggestion, symbol, name, word string, limit int, budget *int) []suggestion {
	if !IsMangled(symbol) {
		d := within(symbol, name, limit)
		if strings.HasSuffix(symbol, "."+name) { // Go: the package, or the package and type, is missing
			d = min(d, packageDistance(symbol))
		}
		if d <= limit && !IsPart(symbol) {
			near = append(near, suggestion{symbol, d})
		}
		return near
	}
	if *budget == 0 || !mayBeNear(symbol, word) || IsPart(symbol) {
		return near
	}
	*budget--
	d, ok := s.names.of(symbol)
	if !ok {
		return near
	}
	if dist := within(d.bare, name, limit); dist <= limit {
		return append(near, suggestion{d.bare, dist})
	}
	// A name without its scope is nearer than any other spelling.
	if strings.HasSuffix(d.bare, "::"+name) {
		return append(near, suggestion{d.bare, 0})
	}
	last := lastPart(name)
	if dist := within(lastPart(d.bare), last, 2); dist <= 1 && len(last) > 2 {
		return append(near, suggestion{d.bare, limit + dist})
	}
	return near
}

// packageDistance ranks the functions of a Go program's own package before those of its libraries.
func packageDistance(symbol string) int {
	if strings.HasPrefix(symbol, "main.") {
		return 0
	}
	return 1
}

// mayBeNear reports whether a mangled name contains an identifier near a word. Each identifier follows its length.
func mayBeNear(symbol, word string) bool {
	limit := min(1+len(word)/4, 2)
	for i := 0; i < len(symbol); {
		n, start := 0, i
		for i < len(symbol) && '0' <= symbol[i] && symbol[i] <= '9' && n < len(symbol) {
			n = 10*n + int(symbol[i]-'0')
			i++
		}
		switch {
		case i == start:
			i++
		case n > 0 && n <= len(symbol)-i:
			if within(symbol[i:i+n], word, limit) <= limit {
				return true
			}
			i += n
		}
	}
	return false
}

// lastPart returns the part behind the last "::".
func lastPart(name string) string { return name[strings.LastIndex(name, ":")+1:] }

// bestOf returns the nearest names, each once.
func bestOf(near []suggestion) []string {
	sort.SliceStable(near, func(i, j int) bool {
		if near[i].distance != near[j].distance {
			return near[i].distance < near[j].distance
		}
		return near[i].name < near[j].name
	})
	var best []string
	for _, s := range near {
		if len(best) == suggestMost {
			break
		}
		if len(best) == 0 || best[len(best)-1] != s.name {
			best = append(best, s.name)
		}
	}
	return best
}

// within returns the distance between two names without regard to case, or limit+1 when it is larger than limit.
func within(a, b string, limit int) int {
	if n := len(a) - len(b); n > limit || -n > limit { // the fast path for most of a million symbols
		return limit + 1
	}
	return spelling.Distance(strings.ToLower(a), strings.ToLower(b), limit)
}
