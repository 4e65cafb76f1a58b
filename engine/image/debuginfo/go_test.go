package debuginfo_test

import (
	"testing"

	"gotap/engine/testenv"
)

// goProgram builds the Go program that the module tests use too.
func goProgram(t *testing.T) *program {
	t.Helper()
	return open(t, testenv.GoProgram(t, "../module/testdata/goprog", nil))
}

func TestGoSignaturesAndResults(t *testing.T) {
	p := goProgram(t)
	for name, want := range map[string]struct{ signature, result string }{
		"main.work":         {"main.work(string s, int n, float64 f, int ~p3, []uint8 xs, error e) (int, string)", "rax"},
		"main.(*Stack).Len": {"main.(*Stack).Len(main.Stack *s) int", "rax"},
		"main.main":         {"main.main() void", ""},
	} {
		entry := p.address(t, name)
		if s, err := p.info.Signature(entry); err != nil || s != want.signature {
			t.Errorf("%s is declared %q, %v", name, s, err)
		}
		if a, err := p.info.ResultAccess(entry, 0); err != nil || a.Reg != want.result {
			t.Errorf("the result of %s is %+v, %v", name, a, err)
		}
	}
}

func TestGoWords(t *testing.T) {
	p := goProgram(t)
	work := p.address(t, "main.work")
	// A string, an int, no float, an int, a slice, an interface.
	want := []string{"rax", "rbx", "rcx", "rdi", "rsi", "r8", "r9", "r10", "r11"}
	for n, reg := range want {
		if a, ok := p.info.GoArg(work, n); !ok || a.Reg != reg {
			t.Errorf("word %d is %+v", n, a)
		}
	}
	for _, n := range []int{-1, len(want)} {
		if a, ok := p.info.GoArg(work, n); ok {
			t.Errorf("word %d is %+v", n, a)
		}
	}
}
