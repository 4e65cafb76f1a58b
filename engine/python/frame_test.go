package python

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"gotap/engine/testenv"
)

// tables prints the table of lines of functions, and the line of each instruction as Python itself says.
const tables = `
import sys
def one(a):
    x = [
        a,
        a + 1,
    ]
    try:
        for i in x:
            if i:
                continue
            print(i,
                  a)
    except ValueError as e:
        raise KeyError from e
    finally:
        a = 2
    with open(a) as f: return {k: v
        for k, v in x}
` + "exec('def two(a):\\n' + '\\n' * 700 + '    if a: return 1\\n' + '    ;'.join(['    a += 1'] * 300).replace('    ;    ', ';') + '\\n' * 200 + '    return a\\n')" + `
for f in one, two:
    code = f.__code__
    table = code.co_linetable if sys.version_info >= (3, 10) else code.co_lnotab
    if sys.version_info >= (3, 10):
        lines = code.co_lines()
    else:
        import dis
        starts = list(dis.findlinestarts(code)) + [(len(code.co_code), None)]
        lines = [(a, b, line) for (a, line), (b, _) in zip(starts, starts[1:])]
    says = []
    for a, b, line in lines:
        says += [str(line or 0)] * ((b - a) // 2)
    print(sys.version_info[1], code.co_firstlineno, table.hex(), ",".join(says))
`

// TestLines: the line of each instruction is the one that Python names, for each version that is there.
func TestLines(t *testing.T) {
	testenv.Require(t, testenv.Python3)
	for _, python := range interpreters() {
		out, err := exec.Command(python, "-c", tables).Output()
		if err != nil {
			t.Fatalf("%s: %v", python, err)
		}
		for text := range strings.Lines(string(out)) {
			var minor, first int
			var table []byte
			var says string
			if _, err := fmt.Sscanf(text, "%d %d %x %s", &minor, &first, &table, &says); err != nil {
				t.Fatalf("%s: %v in %.100q", python, err, text)
			}
			find := map[int]func([]byte, int, int) int{9: lineOf9, 10: lineOf10, 11: lineOf11, 12: lineOf11, 13: lineOf11}[minor]
			if find == nil {
				continue
			}
			for i, want := range strings.Split(says, ",") {
				if got := fmt.Sprint(find(table, first, 2*i)); got != want {
					t.Errorf("%s: instruction %d of the function at line %d is at line %s, not %s", python, i, first, got, want)
					break
				}
			}
		}
	}
}

// FuzzLines: no table makes the search fail.
func FuzzLines(f *testing.F) {
	f.Add([]byte{0xf0, 1, 2, 0xff}, 3)
	f.Fuzz(func(_ *testing.T, p []byte, at int) {
		lineOf9(p, 1, at)
		lineOf10(p, 1, at)
		lineOf11(p, 1, at)
		for _, width := range []int{1, 2, 4} {
			decode(p, width)
		}
	})
}
