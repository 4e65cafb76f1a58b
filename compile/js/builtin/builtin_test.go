package builtin

import (
	"strings"
	"testing"
)

// Every row says what help and the declarations for editors need, and how it is compiled.
func TestTable(t *testing.T) {
	for _, f := range All() {
		row := Find(f.Name)
		switch {
		case row == nil || row.Function != f:
			t.Errorf("%s is not found", f.Name)
		case row.do == nil && f.Name != "global" && f.Name != "cast": // which have members, so the compiler reads them itself
			t.Errorf("%s does nothing", f.Name)
		case !strings.HasPrefix(f.Usage, f.Name+"(") || f.Doc == "" || !strings.Contains(f.Type, "=>"):
			t.Errorf("%+v is not documented", f)
		case row.most >= 0 && row.most < row.least:
			t.Errorf("%s takes %d to %d arguments", f.Name, row.least, row.most)
		}
		if head, member, ok := strings.Cut(f.Name, "."); ok && !strings.Contains(strings.Join(MembersOf(head), " "), member) {
			t.Errorf("%s is not a member of %s", member, head)
		}
	}
	if Find("sqrt") != nil || Usage("sqrt") != "" || len(MembersOf("sqrt")) > 0 {
		t.Error("sqrt is known")
	}
}

func TestMembers(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range Members() {
		if seen[m.Name] || m.Doc == "" || m.Type == "" {
			t.Errorf("%+v", m)
		}
		seen[m.Name] = true
	}
	for _, name := range []string{"arg0", "arg9", "ret", "pid", "stack"} {
		if !seen[name] {
			t.Errorf("%s is missing", name)
		}
	}
}

func TestCountRange(t *testing.T) {
	for _, c := range []struct {
		least, most int
		want        string
	}{{1, 1, "1 argument"}, {0, 1, "0 or 1 argument"}, {1, 2, "1 or 2 arguments"}, {2, -1, "at least 2 arguments"}, {1, 3, "1 to 3 arguments"}} {
		if got := countRange(c.least, c.most); got != c.want {
			t.Errorf("%d to %d is %q", c.least, c.most, got)
		}
	}
}

func TestConversion(t *testing.T) {
	for i, want := range []byte{'d', 's', 'f', 0} {
		if got := conversion("%d%% %-8s %.2lf", i); got != want {
			t.Errorf("conversion %d is %c, not %c", i, got, want)
		}
	}
}
