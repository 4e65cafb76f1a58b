package diag

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode/utf8"
)

// Text that comes from a program, or from one of its files, may hold what a terminal takes for commands: to paint over
// what was written, to set its title, to answer as if the user had typed. Escape, or an Escaper, is in every way on
// which such text leaves gotap as text. JSON has the text whole.

// IsControl reports whether a character is a command to a terminal, or changes the direction in which other characters
// are shown (the marks, embeddings and isolates of the Unicode Bidirectional Algorithm). Line ends and tabs are not
// among them.
func IsControl(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < ' ' || r >= 0x7f && r <= 0x9f:
		return true
	}
	return r == 0x061c || r == 0x200e || r == 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// Escape writes control characters, and bytes that are one to a terminal without UTF-8, as \x1b or \u009b.
func Escape(text string) string { return (*Controls)(nil).Escape(text) }

// Controls are the control sequences that the author of a script has written into it, as for colours: what is printed
// may hold them. Nil has none. It is safe for concurrent use.
type Controls struct {
	mu    sync.RWMutex
	whole map[string]bool
	begun []string // without their ends: the script puts the rest together
}

// Add allows the sequences in a text of the script.
func (c *Controls) Add(text string) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for at := nextControl(text, 0); at < len(text); {
		n, ended := sequence(text[at:])
		if ended {
			if c.whole == nil {
				c.whole = map[string]bool{}
			}
			c.whole[text[at:at+n]] = true
		} else {
			c.begun = append(c.begun, text[at:at+n])
		}
		at = nextControl(text, at+n)
	}
}

// allow reports whether the script has a sequence.
func (c *Controls) allow(sequence string) bool {
	if c == nil {
		return false
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.whole[sequence] {
		return true
	}
	for _, b := range c.begun {
		if strings.HasPrefix(sequence, b) {
			return true
		}
	}
	return false
}

// Escape is the function Escape, but for the sequences of the script.
func (c *Controls) Escape(text string) string {
	at := nextControl(text, 0)
	if at == len(text) {
		return text
	}
	var b strings.Builder
	done := 0
	for at < len(text) {
		b.WriteString(text[done:at])
		if n, _ := sequence(text[at:]); c.allow(text[at : at+n]) {
			b.WriteString(text[at : at+n])
			done = at + n
		} else {
			done = at + escapeOne(&b, text[at:])
		}
		at = nextControl(text, done)
	}
	b.WriteString(text[done:])
	return b.String()
}

// escapeOne writes the control character that a text begins with in signs, and returns its length.
func escapeOne(b *strings.Builder, text string) int {
	r, n := utf8.DecodeRuneInString(text)
	if r < utf8.RuneSelf || n == 1 {
		fmt.Fprintf(b, `\x%02x`, text[0])
	} else {
		fmt.Fprintf(b, `\u%04x`, r)
	}
	return n
}

// nextControl is the index of the first control character from at on, or the length of the text.
func nextControl(text string, at int) int {
	for at < len(text) {
		c := text[at]
		if c >= ' ' && c < 0x7f || c == '\n' || c == '\t' {
			at++
			continue
		}
		r, n := utf8.DecodeRuneInString(text[at:])
		if n == 1 && r == utf8.RuneError && c <= 0x9f || r != utf8.RuneError && IsControl(r) { // a byte from 0x80 to 0x9f that is not UTF-8
			return at
		}
		at += n
	}
	return at
}

const escape = 0x1b

// sequence is the length of the control sequence that a text begins with, by ECMA-48, 5.4 and 5.6, and whether its end
// is there.
func sequence(text string) (n int, ended bool) {
	if text[0] != escape {
		_, n = utf8.DecodeRuneInString(text)
		return n, true
	}
	if len(text) == 1 {
		return 1, false
	}
	switch text[1] {
	case '[': // parameters and intermediate bytes, then a final one
		n = 2
		for n < len(text) && text[n] >= ' ' && text[n] <= '?' {
			n++
		}
		if n == len(text) || text[n] < '@' || text[n] > '~' {
			return n, false
		}
		return n + 1, true
	case ']', 'P', 'X', '^', '_': // a text up to BEL or ST
		for n = 2; n < len(text); n++ {
			if text[n] == '\a' {
				return n + 1, true
			}
			if text[n] == escape {
				if strings.HasPrefix(text[n:], "\x1b\\") {
					return n + 2, true
				}
				break
			}
		}
		return n, false
	}
	return 2, text[1] >= ' ' && text[1] < 0x7f
}

// An Escaper passes on what is written to it with its control characters escaped.
type Escaper struct{ W io.Writer }

// Write implements io.Writer.
func (e Escaper) Write(p []byte) (int, error) {
	if _, err := io.WriteString(e.W, Escape(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}
