package spelling

import (
	"slices"
	"testing"
)

func TestNear(t *testing.T) {
	have := []string{"weight", "Width", "height", "count", "eight", "weigh"}
	for name, want := range map[string][]string{
		"wieght": {"weight", "height", "eight"},
		"WIDTH":  {"Width"},
		"number": nil,
	} {
		if got := Near(name, have); !slices.Equal(got, want) {
			t.Errorf("%s resembles %q, want %q", name, got, want)
		}
	}
}
