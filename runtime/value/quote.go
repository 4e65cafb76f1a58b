package value

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

// escapes are the characters that a quoted text has by letters, as in C.
var escapes = map[rune]string{'\n': `\n`, '\t': `\t`, '\r': `\r`, '\a': `\a`, '\b': `\b`, '\f': `\f`, '\v': `\v`, '"': `\"`, '\\': `\\`}

// Quoted returns the inside of a quoted text as debuggers show it: quotation marks, backslashes and what cannot be
// printed are escaped.
func Quoted(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		switch e := escapes[r]; {
		case e != "":
			b.WriteString(e)
		case r < ' ' || r == 0x7f || r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\%03o`, text[i])
		default:
			b.WriteString(text[i : i+n])
		}
		i += n
	}
	return b.String()
}

// Whole returns a text with its quotation marks, the inside as by Quoted; one that is cut has no second mark. What does
// not begin with one is returned as it is.
func Whole(text string, cut bool) string {
	inner, ok := strings.CutPrefix(text, `"`)
	if !ok {
		return text
	}
	if inner, ended := strings.CutSuffix(inner, `"`); ended && !cut {
		return `"` + Quoted(inner) + `"`
	}
	return `"` + Quoted(inner)
}

// Dumped returns the text of a value with the texts in it as by Quoted. A program has put it together, so where a text
// ends has to be told from what follows: a quotation mark within a text that looks like its end is taken for it.
func Dumped(dump string) string {
	var b strings.Builder
	for {
		before, rest, quoted := strings.Cut(dump, `"`)
		b.WriteString(before)
		if !quoted {
			return b.String()
		}
		end := textEnd(rest)
		b.WriteString(`"` + Quoted(rest[:end]))
		if end < len(rest) {
			b.WriteByte('"')
			end++
		}
		dump = rest[end:]
	}
}

// goesOn matches what can follow a text in a dump: the end, a bracket, the value of a key, the next element, member,
// argument or result.
var goesOn = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:$| \}|[)\]}]|: |,[^ ]|, (?:\.|[A-Za-z_]\w*=|["(\[{&*?]|-?\d|nil|true|false))`)
})

// textEnd returns where a text ends that is followed by more of a dump: at the first quotation mark behind which a dump
// can go on.
func textEnd(s string) int {
	for i := range len(s) {
		if s[i] == '"' && goesOn().MatchString(s[i+1:]) {
			return i
		}
	}
	return len(s)
}

// OfField returns the value of a field of a record that holds a text: of what belongs to a dump with its escapes.
func OfField(k Kind, text string, cut bool) Value {
	switch k {
	case KindQuoted:
		return Value{Kind: KindText, Text: Quoted(text), Cut: cut}
	case KindWhole:
		return Value{Kind: KindText, Text: Whole(text, cut), Cut: cut}
	case KindDump:
		return Value{Kind: KindText, Text: Dumped(text), Cut: cut}
	}
	return Value{Kind: k, Text: text, Cut: cut}
}

// Shown returns the kind of the value of a field: what a dump consists of is text.
func (k Kind) Shown() Kind {
	if k == KindQuoted || k == KindWhole || k == KindDump {
		return KindText
	}
	return k
}
