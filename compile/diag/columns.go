package diag

import (
	"unicode"

	"golang.org/x/text/width"
)

// Columns is how many columns of a terminal a text takes: two for the characters that East Asian scripts and pictures
// stand in, none for marks that go onto the one before. Control characters count one.
func Columns(text string) (n int) {
	for _, r := range text {
		n += columnsOf(r)
	}
	return n
}

func columnsOf(r rune) int {
	if r < 0x300 { // most text, without a search
		return 1
	}
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}
