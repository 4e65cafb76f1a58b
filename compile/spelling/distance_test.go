package spelling

import (
	"strings"
	"testing"
)

func TestDistance(t *testing.T) {
	long := strings.Repeat("x", Longest+1)
	for _, c := range []struct {
		a, b        string
		limit, want int
	}{
		{"", "", 0, 0}, {"", "ab", 2, 2}, {"ab", "", 1, 2}, {"malloc", "malloc", 0, 0}, {"mallco", "malloc", 3, 1},
		{"maloc", "malloc", 3, 1}, {"malllloc", "malloc", 3, 2}, {"free", "malloc", 3, 4}, {"kitten", "sitting", 9, 3},
		{"ca", "abc", 9, 3}, // no letter is touched twice: 2 with unrestricted transpositions
		{"Malloc", "malloc", 3, 1}, {"abcdef", "badcfe", 9, 3}, {"a", "abcdefgh", 3, 4}, {long, long, 3, 4}, {long[1:], long[1:], 3, 0},
	} {
		if got := Distance(c.a, c.b, c.limit); got != c.want {
			t.Errorf("from %q to %q within %d: %d, want %d", c.a, c.b, c.limit, got, c.want)
		}
		if back := Distance(c.b, c.a, c.limit); back != c.want {
			t.Errorf("from %q to %q within %d: %d, the other way round %d", c.b, c.a, c.limit, back, c.want)
		}
	}
}

// TestDistanceOfEdits makes every single slip of a word: each is found as one, and as none within a limit of 0.
func TestDistanceOfEdits(t *testing.T) {
	const word = "process"
	for i := range len(word) + 1 {
		slips := []string{word[:i] + "z" + word[i:]}
		if i < len(word) {
			slips = append(slips, word[:i]+word[i+1:], word[:i]+"z"+word[i+1:])
		}
		if i+1 < len(word) && word[i] != word[i+1] {
			slips = append(slips, word[:i]+word[i+1:i+2]+word[i:i+1]+word[i+2:])
		}
		for _, s := range slips {
			if got := Distance(s, word, 5); got != 1 {
				t.Errorf("%q is %d from %q", s, got, word)
			}
			if got := Distance(s, word, 0); got != 1 {
				t.Errorf("%q is %d from %q within 0", s, got, word)
			}
		}
	}
}
