package spelling

import "strings"

// Nearest returns the known name closest to a misspelt one, or "" when none is close. Only what stands before a comma
// of typed counts. The limit grows with the length of the word: one slip in four letters, two in seven.
func Nearest(typed string, known []string) string {
	word, _, _ := strings.Cut(typed, ",")
	best, least := "", len(word)/3+2
	for _, name := range known {
		if d := Distance(word, name, least-1); d < least {
			best, least = name, d
		}
	}
	return best
}
