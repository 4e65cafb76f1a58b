package jsvm

import (
	"fmt"
	"strings"

	"gotap/compile/spelling"
)

// Nearest returns a hint that names the known word closest to a wrong one, or lists them all.
func Nearest(word string, known []string) string {
	best, distance := "", min(3, 1+max(1, len(word)/3)) // one slip in a short word, two in a longer one
	for _, k := range known {
		if d := spelling.Distance(strings.ToLower(word), strings.ToLower(k), distance-1); d < distance && d < len(word) {
			best, distance = k, d
		}
	}
	if best != "" {
		return fmt.Sprintf("did you mean %s?", best)
	}
	if len(known) == 0 {
		return ""
	}
	return "there are " + strings.Join(known, ", ")
}
