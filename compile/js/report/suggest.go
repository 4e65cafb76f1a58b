package report

import (
	"fmt"
	"slices"
	"strings"

	"gotap/compile/spelling"
)

// Suggestion is a hint that names what was probably meant, or otherwise when nothing comes near.
func Suggestion(name string, known []string, otherwise string) string {
	if best := nearest(name, known); best != "" {
		return fmt.Sprintf("did you mean %s?", best)
	}
	return otherwise
}

// nearest returns the known name that name is probably a misspelling of, or "": one edit in a short
// name, two in one of five letters or more, three from nine.
func nearest(name string, known []string) string {
	best, distance := "", 1
	switch n := len(name); {
	case n >= 9:
		distance = 3
	case n >= 5:
		distance = 2
	}
	known = slices.Clone(known)
	slices.Sort(known)
	for _, k := range known {
		if strings.EqualFold(k, name) && k != name {
			return k
		}
		nearer := func(d int) bool { // of equals, what begins so was left unfinished
			return best == "" || d < distance || strings.HasPrefix(k, name) && !strings.HasPrefix(best, name)
		}
		if d := spelling.Distance(name, k, distance); d <= distance && nearer(d) && d < len(name) {
			best, distance = k, d
		}
	}
	return best
}
