package module

import (
	"sort"
	"strings"

	"gotap/compile/spelling"
)

// Bounds on the work for a message: names demangled, and suggestions made.
const (
	suggestDemangled = 2000
	suggestMost      = 3
)

// suggestion is a name and how far it is from the one that was asked for.
type suggestion struct {
	name     string
	distance int
}

// Suggest lists up to three functions whose names are nearest to one that was not found: other spellings, and qualified
// names whose last part it is. The best comes first.
func (f *File) Suggest(name string) []string { return f.suggestFrom(f.table().names, name) }

// SuggestVar does the same for variables.
func (f *File) SuggestVar(name string) []string { return f.suggestFrom(f.table().data, name) }

// suggestFrom looks through a list of names.
func (f *File) suggestFrom(list []named, name string) []string {
	name = strings.Trim(name, "*?")
	if at := strings.IndexByte(name, '@'); at > 0 {
		name = name[:at] // nm writes the version of a symbol behind it, a place is named without
	}
	if name == "" {
		return nil
	}
	limit := max(1, len(name)/3) // one slip in a short name, more in a long one
	var near []suggestion
	budget := suggestDemangled
	word := spelled(name)
	for _, n := range list {
		near = f.suggest(near, n.name, name, word, limit, &budget)
	}
	return bestOf(near)
}

// spelled is the last part of a name that its mangled form spells out: of an operator or a destructor, the class.
func spelled(name string) string {
	last := lastPart(name)
	if strings.HasPrefix(last, "operator") || strings.HasPrefix(last, "~") {
		if scope := strings.TrimSuffix(name, "::"+last); scope != name {
			return lastPart(scope)
		}
	}
	return last
}

// suggest adds a symbol to the list when it is near; word is what the mangled form has to contain something like.
func (f *File) suggest(near []suggestion, symbol, name, word string, limit int, budget *int) []suggestion {
	if isPart(symbol) {
		return near
	}
	if !isMangled(symbol) {
		d := within(symbol, name, limit)
		if strings.HasSuffix(symbol, "."+name) { // Go: the package, or the type too, was left out
			d = min(d, packageDistance(symbol))
		}
		if d <= limit {
			near = append(near, suggestion{symbol, d})
		}
		return near
	}
	if *budget == 0 || !mayBeNear(symbol, word) {
		return near
	}
	*budget--
	d, ok := f.names.of(symbol)
	if !ok {
		return near
	}
	if dist := within(d.bare, name, limit); dist <= limit {
		return append(near, suggestion{d.bare, dist})
	}
	// A name whose scope was left out is nearer than any other spelling.
	if strings.HasSuffix(d.bare, "::"+name) {
		return append(near, suggestion{d.bare, 0})
	}
	last := lastPart(name)
	if dist := within(lastPart(d.bare), last, 2); dist <= 1 && len(last) > 2 {
		return append(near, suggestion{d.bare, limit + dist})
	}
	return near
}

// packageDistance puts the functions of a Go program's own package before those of its libraries.
func packageDistance(symbol string) int {
	if strings.HasPrefix(symbol, "main.") {
		return 0
	}
	return 1
}

// mayBeNear reports whether a mangled name holds an identifier that is near a word. Identifiers stand in it behind
// their length.
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

// lastPart is what follows the last "::".
func lastPart(name string) string { return name[strings.LastIndex(name, ":")+1:] }

// bestOf keeps the nearest names, each once.
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

// within is the number of slips between two names, or limit+1 when there are more. Case counts for nothing.
func within(a, b string, limit int) int {
	if n := len(a) - len(b); n > limit || -n > limit { // most of a million symbols end here, before they are copied in lower case
		return limit + 1
	}
	return spelling.Distance(strings.ToLower(a), strings.ToLower(b), limit)
}
