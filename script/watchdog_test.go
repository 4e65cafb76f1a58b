package script_test

import (
	"gotap/script"
	"gotap/script/scripttest"
	"strings"
	"testing"
	"time"
)

// A script that takes all memory while it is loaded has no callbacks yet that would not run.
func TestMemoryOfTopLevel(t *testing.T) {
	s, list := script.Load(script.Options{Name: "s.js", Text: `const all = []; for (;;) all.push("x".repeat(1e5) + all.length);`, HeapLimit: 32 << 20, Deadline: scripttest.Patience})
	if s != nil || !strings.Contains(list.Error(), "error: the script uses more than 32 MB of memory: it was ended\n") {
		t.Errorf("script %v, %v", s, list)
	}
}

// Loops that do nothing at all are ended as well, and it is they that are named.
func TestEndlessEmptyLoop(t *testing.T) {
	for _, loop := range []string{"for (;;);", "for (;;) {}", "while (true) { ; }", "do {} while (true)", "on: for (;;) continue", "(() => { for (let i = 0; ; ) { { continue; } } })()"} {
		s, list := script.Load(script.Options{Name: "s.js", Text: "\nlet a = Math.abs(1);\n\n" + loop + "\nconsole.log(a);\n", Deadline: 60 * time.Millisecond})
		if s != nil || len(list) != 1 || !strings.Contains(list[0].String(), "s.js:4:") {
			t.Errorf("%s: script %v, %v", loop, s, list)
		}
	}
}
