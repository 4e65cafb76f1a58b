package status

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotap"
)

// An error keeps its status, its hint and its cause under any number of wraps; the outermost status and hint count.
func TestErrorKeepsStatusAndHint(t *testing.T) {
	_, missing := os.Open(filepath.Join(t.TempDir(), "missing"))
	for _, c := range []struct {
		err    error
		status int
		hint   string
	}{
		{nil, OK, ""},
		{missing, Usage, ""},
		{With(Target, missing), Target, ""},
		{Hinted(With(Target, missing), "look again"), Target, "look again"},
		{With(NoProbe, Hinted(missing, "look again")), NoProbe, "look again"},
		{fmt.Errorf("cannot start: %w", Hinted(With(Failure, missing), "first")), Failure, "first"},
		{Hinted(With(Usage, With(Target, Hinted(missing, "inner"))), "outer"), Usage, "outer"},
		{&gotap.Error{Kind: gotap.NoMatch, Err: missing}, NoProbe, ""},
		{Silent(7), 7, ""},
	} {
		if got := Of(c.err); got != c.status {
			t.Errorf("%v: status %d, want %d", c.err, got, c.status)
		}
		if got := HintOf(c.err); got != c.hint {
			t.Errorf("%v: hint %q, want %q", c.err, got, c.hint)
		}
		if c.err != nil && c.status != 7 && !errors.Is(c.err, fs.ErrNotExist) {
			t.Errorf("%v does not match its cause", c.err)
		}
	}
	if err := With(Failure, nil); err != nil {
		t.Errorf("no error became %v", err)
	}
}

func TestPrint(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{nil, ""},
		{Silent(3), ""},
		{With(Target, errors.New("x")), "gotap: x\n"},
		{errors.New("no such place"), "gotap: no such place\n"},
		{Hinted(With(Usage, errors.New("no such place")), "try another"), "gotap: no such place\nhint: try another\n"},
		{errors.New("a\x1b[31mb"), "gotap: a\\x1b[31mb\n"}, // what a target is called does not colour the terminal
	} {
		var b strings.Builder
		if Print(&b, c.err); b.String() != c.want {
			t.Errorf("%v is printed as %q, want %q", c.err, b.String(), c.want)
		}
	}
}
