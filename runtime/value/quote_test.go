package value

import "testing"

// Quoted texts are as gdb prints them: p "…" in gdb gave the right sides.
func TestQuoted(t *testing.T) {
	for text, want := range map[string]string{
		"":                       "",
		"plain text":             "plain text",
		"a\"b\n\t\\c\x1b[1m":     `a\"b\n\t\\c\033[1m`,
		"\a\b\f\r\v\x01\x7f\x1f": `\a\b\f\r\v\001\177\037`,
		"größe 名前":               "größe 名前",
		"cut \xc3":               `cut \303`,
		"\xff1":                  `\3771`,
	} {
		if got := Quoted(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// Texts in a dump are found again, also those with quotation marks that end nothing.
func TestDumped(t *testing.T) {
	for dump, want := range map[string]string{
		``:                                  ``,
		`0x7ffe`:                            `0x7ffe`,
		"\"a\"b\n\"":                        `"a\"b\n"`,
		`"a", "b"`:                          `"a", "b"`,
		"{ .n = \"a\nb\", .m = 2 }":         `{ .n = "a\nb", .m = 2 }`,
		`{ .n = "say "hi" now", .m = "" }`:  `{ .n = "say \"hi\" now", .m = "" }`,
		`["a","b\c",..]`:                    `["a","b\\c",..]`,
		`{"k": 1,"l": "v"}`:                 `{"k": 1,"l": "v"}`,
		"{ .n = \"a\", \r\", b\", .m = 2 }": `{ .n = "a\", \r\", b", .m = 2 }`,
		`("a", nil)`:                        `("a", nil)`,
		`Some("x")`:                         `Some("x")`,
		"s=\"a\", t=\"b\t\"":                `s="a", t="b\t"`,
		"{ .n = \"cut":                      `{ .n = "cut`,
	} {
		if got := Dumped(dump); got != want {
			t.Errorf("%q: %s, want %s", dump, got, want)
		}
	}
	for text, want := range map[string]string{`"a", "b"`: `"a\", \"b"`, "\"a\"b\n\"": `"a\"b\n"`, "0x7ffe": "0x7ffe", "": "", `""`: `""`} {
		if got := Whole(text, false); got != want {
			t.Errorf("whole %q: %s, want %s", text, got, want)
		}
	}
	if got := Whole("\"cut\n\"", true); got != `"cut\n\"` {
		t.Errorf("cut: %s", got)
	}
	if v := OfField(KindQuoted, "a\n", true); v.Kind != KindText || v.Format(nil) != `a\n..` {
		t.Errorf("%+v", v)
	}
}
