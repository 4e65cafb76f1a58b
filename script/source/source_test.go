package source

import (
	"testing"

	"gotap/script/load"
)

// A call, its arguments and the properties of an options object have places in the text.
func TestSite(t *testing.T) {
	text := `f("name", { limit: 1.0 }, [2, 30]);`
	parsed, list := (&load.Loader{}).Parse("s.js", "", text)
	if err := list.Err(); err != nil {
		t.Fatal(err)
	}
	files := NewFiles(nil, false)
	f, list := files.Admit(parsed, 0)
	if err := list.Err(); err != nil || files.At("s.js") != f {
		t.Fatal(err)
	}
	for _, call := range f.Info.Calls {
		c := Site{call, f, f.NodeSpan(call.Node)}
		for want, at := range map[string]struct{ start, end int }{
			text[:len(text)-1]: {c.Span().Start, c.Span().End}, `"name"`: {c.ArgSpan(0).Start, c.ArgSpan(0).End},
			"limit: 1.0": {c.PropertySpan(1, "limit", false).Start, c.PropertySpan(1, "limit", false).End},
			"1.0":        {c.PropertySpan(1, "limit", true).Start, c.PropertySpan(1, "limit", true).End},
			"30":         {c.ElementSpan(2, 1).Start, c.ElementSpan(2, 1).End},
		} {
			if got := text[at.start:at.end]; got != want {
				t.Errorf("%q, not %q", got, want)
			}
		}
		if c.ArgSpan(7) != c.Span() || c.HasPoint(0) {
			t.Error("a missing argument is not at the call, or a text has a decimal point")
		}
	}
	if len(f.Info.Calls) != 1 {
		t.Errorf("%d calls", len(f.Info.Calls))
	}
}
