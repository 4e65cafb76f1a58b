package diag

import (
	"strings"
	"testing"
)

func TestEscape(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "plain\ttext\n": "plain\ttext\n", "äöü 世界 \u00a0": "äöü 世界 \u00a0",
		"\x1b[31mred\a": `\x1b[31mred\x07`, "a\rb\x00\x7f": `a\x0db\x00\x7f`,
		"\u009b31m": `\u009b31m`, "\x9b31m": `\x9b31m`, "\xc2": "\xc2", "\xff\x85\xff": "\xff\\x85\xff",
		"a\u202eb\u2066c\u200fd\u061ce": `a\u202eb\u2066c\u200fd\u061ce`, "\ufffd": "\ufffd", "\\x1b": `\x1b`,
	} {
		if got := Escape(text); got != want {
			t.Errorf("%q is %q, not %q", text, got, want)
		}
		if again := Escape(want); again != want {
			t.Errorf("%q is %q when it is escaped again", want, again)
		}
	}
}

// What the author of a script wrote goes through, and nothing else.
func TestControls(t *testing.T) {
	var c Controls
	c.Add("\x1b[31mred\x1b[0m\r")
	c.Add("\x1b[38;5;")
	c.Add("\x1b]0;title\a")
	for text, want := range map[string]string{
		"\x1b[31ma\x1b[0m\r": "\x1b[31ma\x1b[0m\r",
		"\x1b[38;5;17mb":     "\x1b[38;5;17mb",
		"\x1b]0;title\ac":    "\x1b]0;title\ac",
		"\x1b[32md":          `\x1b[32md`, "\x1b[2Je": `\x1b[2Je`, "\x1b]0;other\a": `\x1b]0;other\x07`, "\x1b": `\x1b`, "\x1b[31": `\x1b[31`, "\a": `\x07`,
	} {
		if got := c.Escape(text); got != want {
			t.Errorf("%q is %q, not %q", text, got, want)
		}
	}
}

// A diagnostic shows no control character of its source, its message or its file's name.
func TestDiagnosticEscaped(t *testing.T) {
	src := NewSource("\x1b[31m.js", "let \x1b[2J\u202ex;\n")
	got := Diagnostic{Span: Span{Source: src, Start: 4, End: 5}, Text: "no \x1b[1m", Hint: "\u009bx"}.String()
	if strings.ContainsFunc(got, IsControl) {
		t.Errorf("%q", got)
	}
}

// An Escaper does not change how much was written.
func TestEscaper(t *testing.T) {
	var b strings.Builder
	if n, err := (Escaper{&b}).Write([]byte("\x1bx")); n != 2 || err != nil || b.String() != `\x1bx` {
		t.Errorf("%d, %v, %q", n, err, b.String())
	}
}

func FuzzEscape(f *testing.F) {
	for _, s := range []string{"", "\x1b[31m", "\x9b", "\u009b", "\u202e", "\xc2\x1b]0;\a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := Escape(text)
		if nextControl(got, 0) != len(got) || Escape(got) != got {
			t.Errorf("%q is %q", text, got)
		}
		var own Controls
		own.Add(text)
		if got := own.Escape(text); got != text {
			t.Errorf("the script's own %q is %q", text, got)
		}
	})
}
