package format

import (
	"strings"
	"testing"
)

// TestChoose: a name chooses a format, otherwise the ending of the file does.
func TestChoose(t *testing.T) {
	for _, c := range []struct{ name, file, want string }{
		{"", "", "text"}, {"", "data", "text"}, {"", "a.txt", "text"}, {"", "a.json", "json"}, {"", "a.html", "html"}, {"", "a.folded", "folded"},
		{"", "a.pb.gz", "pprof"}, {"", "a.gz", "text"}, {"", "a.perfetto-trace", "perfetto"}, {"", "a.prom", "openmetrics"}, {"text", "a.html", "text"}, {"pprof", "a.html", "pprof"},
	} {
		f, err := Choose(c.name, c.file)
		if err != nil || f.Name != c.want {
			t.Errorf("%q, %q is %q, %v", c.name, c.file, f.Name, err)
		}
		if whole := c.want != "text" && c.want != "json"; f.Whole() != whole || (f.Check(true, true) != nil) != whole || (f.Check(false, false) != nil) != whole || f.Check(true, false) != nil {
			t.Errorf("%s: whole %v; %v; %v; %v", f.Name, f.Whole(), f.Check(true, true), f.Check(false, false), f.Check(true, false))
		}
		if f.CheckTerminal(false) != nil || (f.CheckTerminal(true) != nil) != (c.want == "pprof") {
			t.Errorf("%s: %v", f.Name, f.CheckTerminal(true))
		}
	}
	_, err := Choose("xml", "a.html")
	if err == nil || err.Error() != `--format is text, json, html, folded, pprof, perfetto or openmetrics, not "xml"` {
		t.Error(err)
	}
}

// TestUse: the help names all formats and endings.
func TestUse(t *testing.T) {
	for _, f := range formats {
		if !strings.Contains(Use, f.Name) || f.Name != "text" && !strings.Contains(Use, f.Ending) {
			t.Errorf("%q has no %s", Use, f.Name)
		}
	}
}
