package gotap

import (
	"slices"
	"sort"
	"testing"
)

func TestNatural(t *testing.T) {
	want := []string{"", "a", "a:2:1", "a:2:10", "a:9:3", "a:10:1", "a:10:2", "b", "b1c", "b1d"}
	got := []string{"a:10:2", "b1d", "a:9:3", "b", "a:2:10", "", "a:10:1", "a", "b1c", "a:2:1"}
	sort.Slice(got, func(i, j int) bool { return natural(got[i], got[j]) })
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
