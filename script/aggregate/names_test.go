package aggregate_test

import (
	"strings"
	"testing"

	"gotap/compile/diag"
	"gotap/script"
)

// Two aggregations of one name are told, with both places, when their output cannot be told apart.
func TestNamesOfAggregations(t *testing.T) {
	for text, want := range map[string]string{
		"const a = count(\"n\");\nconst b = sum(\"n\");":                              "script.js:2:11 script.js:1:11",
		"const n = count();\nconst b = map(\"n\");":                                   "script.js:2:11 script.js:1:11",
		"for (const i of [1, 2]) hist(\"n\");":                                        "script.js:1:25 script.js:1:25",
		"const a = hist(\"n\"), b = stats(\"n\"), c = count(\"n\"), d = count(\"m\")": "",
		"const a = perThread(0), b = count(\"a\");":                                   "",
	} {
		s, list := script.Load(script.Options{Name: "script.js", Text: text})
		if s == nil {
			t.Errorf("%s: %v", text, list)
			continue
		}
		s.Close()
		got := ""
		for _, d := range list {
			if d.Severity == diag.Warning {
				got += d.Span.Source.Position(d.Span.Start).String() + " " + d.Hint[strings.LastIndexByte(d.Hint, ' ')+1:]
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
