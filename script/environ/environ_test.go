package environ_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gotap/script"
	"gotap/script/output"
)

// What scripts read of the machine is what is there; what is not, or could block, is undefined.
func TestSurroundings(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("text \xff"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("a", filepath.Join(dir, "b")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOTAP_SURROUNDINGS", "here")
	for text, want := range map[string]string{
		`readFile(dir + "/a")`:            "text �",
		`readFile(dir + "/a", 2)`:         "te",
		`readFile(dir + "/none")`:         "undefined",
		`readFile("/dev/zero")`:           "undefined",
		`readFile(dir)`:                   "undefined",
		`readLink(dir + "/b")`:            "a",
		`readLink(dir + "/a")`:            "undefined",
		`readDir(dir).join()`:             "a,b",
		`readDir(dir + "/a")`:             "undefined",
		`env("GOTAP_SURROUNDINGS")`:       "here",
		`env("GOTAP_NO_SUCH")`:            "undefined",
		`columns()`:                       "0",
		`columns("a漢e\u0301")`:            "4",
		`now() <= now()`:                  "true",
		`typeof readFile("/proc/uptime")`: "string",
	} {
		var out strings.Builder
		sink := output.NewText(&out, &out)
		s, list := script.Load(script.Options{Name: "test.js", Text: "const dir = " + strconv.Quote(dir) + ";\nconsole.log(" + text + ");", Output: sink})
		if err := list.Err(); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		sink.Flush()
		s.Close()
		if got := strings.TrimSuffix(out.String(), "\n"); got != want {
			t.Errorf("%s is %q, not %q", text, got, want)
		}
	}
	if _, list := script.Load(script.Options{Name: "test.js", Text: "readFile(5)"}); !strings.Contains(list.Error(), "readFile needs a path") {
		t.Errorf("readFile(5): %v", list)
	}
}
