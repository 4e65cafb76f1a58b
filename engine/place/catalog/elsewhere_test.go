package catalog_test

import (
	"os/exec"
	"strings"
	"testing"

	"gotap/engine/place"
	"gotap/engine/place/catalog"
)

func missing(t *testing.T, text string) *place.NotFoundError {
	t.Helper()
	spec, err := place.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return &place.NotFoundError{Spec: spec, What: place.NoFunction}
}

func TestElsewhere(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		place   string
		command []string
		want    string // in the hint; "": there is none
	}{
		{"__x64_sys_openat", []string{"env"}, "function of the kernel"},
		{"main", []string{"env"}, ""},
		{"no_such_function", []string{"env", "-i", shell, "-c", "true"}, ""},
		{"sh:no_such_function", []string{"env", shell}, ""},
	} {
		if hint := catalog.Elsewhere(missing(t, c.place), c.command); (hint == "") != (c.want == "") || !strings.Contains(hint, c.want) {
			t.Errorf("%s of %q: %q", c.place, c.command, hint)
		}
	}
}
