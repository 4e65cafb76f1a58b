package folded

import (
	"strings"
	"testing"

	"gotap/script/output"
	"gotap/script/output/picture"
)

// TestWrite: one kind has its stacks alone; of several each line has the kind. What divides is replaced.
func TestWrite(t *testing.T) {
	one := output.Table{Name: "t", Columns: []string{"stack", "hits"}, Rows: [][]any{{[]any{"f(a;b)\n", "main"}, int64(3)}}}
	p := &picture.Picture{Tables: []output.Table{one}}
	for want, add := range map[string][]output.Table{"main;f(a:b) 3\n": nil, "t, hits;main;f(a:b) 3\nu, hits;x 1\n": {{Name: "u", Columns: []string{"stack", "hits"}, Rows: [][]any{{"x", int64(1)}}}}} {
		var b strings.Builder
		if err := Write(&b, &picture.Picture{Tables: append(p.Tables[:1:1], add...)}); err != nil || b.String() != want {
			t.Errorf("%q, %v, want %q", b.String(), err, want)
		}
	}
	var b strings.Builder
	if err := Write(&b, &picture.Picture{}); err != picture.ErrNoStacks || b.Len() != 0 {
		t.Errorf("without stacks %q, %v", b.String(), err)
	}
}
