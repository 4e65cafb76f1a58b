package snapshot_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"gotap/runtime/object"
	"gotap/runtime/snapshot"
	"gotap/runtime/value"
)

// TestSeriesText has the form of bpftrace's tseries: the scale above and below, a dot where zero is (4 of 9 on a scale
// of 52 columns), a star for the value, "-" where there is none.
func TestSeriesText(t *testing.T) {
	local := time.Local
	time.Local = time.UTC
	defer func() { time.Local = local }()
	h := newSeries(t, newArena(t), object.KindMin, 6, 0, 0)
	for second, v := range []int64{-5, -4, 0, 3, 5} {
		addTo(t, h, int64(second), v)
	}
	addTo(t, h, 6, 5) // the first is no longer seen, and nothing was added in the fifth
	want := `@s:
         -4                                                  5
hh:mm:ss |___________________________________________________|
00:00:01 *                      .                            | -4
00:00:02 |                      *                            | 0
00:00:03 |                      .                *           | 3
00:00:04 |                      .                            * 5
00:00:05 |                      .                            | -
00:00:06 |                      .                            * 5
         v___________________________________________________v
         -4                                                  5

`
	var b strings.Builder
	h.Entries().Print(&b, snapshot.Options{})
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

func TestSeriesJSON(t *testing.T) {
	a := newArena(t)
	for _, c := range []struct {
		of   object.Kind
		keys int
		want string
	}{
		{object.KindSum, 0, `{"type":"tseries","name":"s","data":[{"interval_start":"1970-01-01T00:00:07Z","value":5},{"interval_start":"1970-01-01T00:00:08Z","value":0},{"interval_start":"1970-01-01T00:00:09Z","value":4}]}`},
		{object.KindAvg, 0, `{"type":"tseries","name":"s","data":[{"interval_start":"1970-01-01T00:00:07Z","value":2},{"interval_start":"1970-01-01T00:00:09Z","value":4}]}`},
		{object.KindMax, 1, `{"type":"tseries","name":"s","data":[{"key":["k"],"value":[{"interval_start":"1970-01-01T00:00:07Z","value":3},{"interval_start":"1970-01-01T00:00:09Z","value":4}]}]}`},
	} {
		h := newSeries(t, a, c.of, 60, c.keys, 0)
		key := []value.Value{value.Text("k")}[:c.keys]
		empty, _ := json.Marshal(h.Entries().JSON())
		if want := `{"type":"tseries","name":"s","data":[]}`; string(empty) != want {
			t.Errorf("empty: %s, want %s", empty, want)
		}
		addTo(t, h, 7, 2, key...)
		addTo(t, h, 7, 3, key...)
		addTo(t, h, 9, 4, key...)
		got, err := json.Marshal(h.Entries().JSON())
		if err != nil || string(got) != c.want {
			t.Errorf("%v\n%s, want\n%s %v", c.of, got, c.want, err)
		}
	}
}
