package js

import (
	"fmt"
	"slices"
	"strings"
)

// suggestion is a hint that names what was probably meant, or otherwise when nothing comes near.
func suggestion(name string, known []string, otherwise string) string {
	if best := nearest(name, known); best != "" {
		return fmt.Sprintf("did you mean %s?", best)
	}
	return otherwise
}

// nearest is the known name that name is a likely slip of, "" when there is none: one edit in a short
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
		if d := edits(name, k); d <= distance && (d < distance || best == "") && d < len(name) {
			best, distance = k, d
		}
	}
	return best
}

// edits is how many letters must be changed, added, dropped or exchanged with their neighbour to make b of a.
func edits(a, b string) int {
	if len(a)-len(b) > 3 || len(b)-len(a) > 3 {
		return 4
	}
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+differ(a[i-1], b[j-1]))
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}

func differ(a, b byte) int {
	if a == b {
		return 0
	}
	return 1
}
