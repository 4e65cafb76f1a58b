package terminal

import (
	"strings"
	"testing"
)

// TestWrap: paragraphs are filled, entries hang below what they say, and nothing is lost.
func TestWrap(t *testing.T) {
	const text = `one two three
four five six seven eight nine ten

Flags:
  -x, --example   an entry that is long enough for two lines
      --a-very-long-flag stringArray   what has no room beside the flag
  short`
	for columns, want := range map[int]string{
		0:  text,
		10: text,
		30: `one two three four five six
seven eight nine ten

Flags:
  -x, --example
      an entry that is long
      enough for two lines
      --a-very-long-flag
          stringArray
          what has no room
          beside the flag
  short`,
		40: `one two three four five six seven eight
nine ten

Flags:
  -x, --example   an entry that is long
                  enough for two lines
      --a-very-long-flag stringArray
          what has no room beside the
          flag
  short`,
		100: strings.Replace(text, "three\nfour", "three four", 1),
	} {
		if got := Wrap(text, columns); got != want {
			t.Errorf("%d columns:\n%s\nwant\n%s", columns, got, want)
		}
	}
	long := strings.Repeat("x", 50)
	if got := Wrap("a "+long+" b", 20); got != "a\n"+long+"\nb" {
		t.Errorf("a long word: %q", got)
	}
}
