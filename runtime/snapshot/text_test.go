package snapshot_test

import (
	"testing"

	"gotap/runtime/object"
	"gotap/runtime/snapshot"
	"gotap/runtime/value"
)

// TestText: a snapshot that is asked for by name has a text also when it is empty.
func TestText(t *testing.T) {
	element := func(i, v int64) snapshot.Entry {
		return snapshot.Entry{Key: []value.Value{value.Int(i)}, Data: snapshot.Data{Kind: object.KindArray, Int: v}}
	}
	for want, s := range map[string]snapshot.Snapshot{
		"n = -3": {Object: object.Object{Name: "n", Kind: object.KindInt}, Entries: []snapshot.Entry{{Data: snapshot.Data{Int: -3}}}},
		`s = "a\n"`: {Object: object.Object{Name: "s", Kind: object.KindText},
			Entries: []snapshot.Entry{{Data: snapshot.Data{Text: "a\n", IsText: true}}}},
		"a[2] = 5\na[10] = -1": {Object: object.Object{Name: "a", Kind: object.KindArray},
			Entries: []snapshot.Entry{element(10, -1), element(3, 0), element(2, 5)}},
		"b: all 0":        {Object: object.Object{Name: "b", Kind: object.KindArray}, Entries: []snapshot.Entry{element(0, 0)}},
		"@c: 0":           {Object: object.Object{Name: "c", Kind: object.KindCount}},
		"@k: nothing yet": {Object: object.Object{Name: "k", Kind: object.KindCount, Keys: 1}},
		"@h: nothing yet": {Object: object.Object{Name: "h", Kind: object.KindHist}},
		"@c: 7": {Object: object.Object{Name: "c", Kind: object.KindCount},
			Entries: []snapshot.Entry{{Data: snapshot.Data{Kind: object.KindCount, Int: 7, Count: 7}}}},
	} {
		if got := s.Text(snapshot.Options{}); got != want {
			t.Errorf("the text is %q, not %q", got, want)
		}
	}
}
