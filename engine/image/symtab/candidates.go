package symtab

import (
	"iter"
	"slices"
	"strings"

	"gotap/engine/image/symname"
)

// Names are searched as the file has them: one string with a zero behind each name. The names of several symbols may
// overlap there, as "action" and "sigaction" do.

// exactNames returns the addresses of the symbols that have a name, alone or with a version or a suffix of the
// compiler.
func exactNames(tables []Raw, name string) (addrs []uint64) {
	for i := range tables {
		t := &tables[i]
		var offsets []uint64
		for at := range occurrences(t.names, name) {
			if rest := t.names[at+len(name):]; rest == "" || rest[0] == 0 || rest[0] == '.' || rest[0] == '@' {
				offsets = append(offsets, uint64(at))
			}
		}
		if len(offsets) == 0 {
			continue
		}
		wanted := newAddressSet(offsets)
		t.each(func(_ int, name uint32, addr uint64, _ byte) {
			if wanted.has(uint64(name)) {
				addrs = append(addrs, addr)
			}
		})
	}
	return addrs
}

// occurrences iterates over the indices of a substring.
func occurrences(text, part string) iter.Seq[int] {
	return func(yield func(int) bool) {
		for from := 0; ; {
			i := strings.Index(text[from:], part)
			if i < 0 || !yield(from+i) {
				return
			}
			from += i + 1
		}
	}
}

// candidates returns the addresses of the symbols that a query may match: their names have all its parts, or they join
// them when the type arguments of Go are left out. ok is false if the query needs all names, or too many may match.
func candidates(tables []Raw, q *symname.Query) (addrs []uint64, ok bool) {
	for i := range tables {
		t := &tables[i]
		texts, ok := rarest(t.names, q.Parts())
		joined, few := textsWhere(t.names, "]", func(rest string) bool { return rest != "" && symname.IsIdent(rest[0]) })
		if !ok || !few {
			return nil, false
		}
		if len(texts)+len(joined) == 0 {
			continue
		}
		t.each(func(_ int, name uint32, addr uint64, _ byte) {
			if hasText(texts, int(name)) || hasText(joined, int(name)) {
				addrs = append(addrs, addr)
			}
		})
		if len(addrs) > maxCandidates {
			return nil, false
		}
	}
	return addrs, true
}

// rarest returns the texts that have the part that the fewest have. ok is false if there are too many with each part.
func rarest(names string, parts []string) (found []text, ok bool) {
	for _, part := range parts {
		if texts, few := textsWhere(names, part, func(string) bool { return true }); few && (!ok || len(texts) < len(found)) {
			found, ok = texts, true
		}
	}
	return found, ok
}

// text is a text with a zero behind it that has a part: names that begin between its start and the last occurrence of
// the part have the part, too.
type text struct{ start, last int }

// textsWhere returns the texts that have a part, behind which the rest of all names is right, in order. ok is false if
// there are too many.
func textsWhere(names, part string, right func(rest string) bool) (found []text, ok bool) {
	for at := range occurrences(names, part) {
		if !right(names[at+len(part):]) {
			continue
		}
		start := strings.LastIndexByte(names[:at], 0) + 1
		if n := len(found); n > 0 && found[n-1].start == start {
			found[n-1].last = at
			continue
		}
		if found = append(found, text{start, at}); len(found) > maxCandidates {
			return nil, false
		}
	}
	return found, true
}

// hasText reports whether the name at an offset has the part of one of the texts.
func hasText(texts []text, at int) bool {
	i, _ := slices.BinarySearchFunc(texts, at, func(t text, at int) int { return t.last - at })
	return i < len(texts) && texts[i].start <= at
}
