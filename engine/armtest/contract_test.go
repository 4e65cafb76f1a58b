package armtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// contractSays is the output of values.js for values.c, with the number of times of each line: arguments of every
// kind by debug information, typed results, variables and enumerations, stacks through a library without debug
// information, watchpoints of both kinds, marks, system calls, threads and children.
var contractSays = map[string]int{
	"ten 1 4 5 10 1 5 10":                 1,
	"ten gave 385 true":                   1,
	"mix 1.500000 2.250000 7":             1,
	"mix gave 10.375000":                  1,
	"nine 1.000000 9.500000":              1,
	"wide 3 1311768467463790320 1":        1,
	"wide gave 1311768467463790322":       1,
	"pointer 5 -99 first -7":              1,
	"value 44 2":                          1,
	"floats 1.500000 2.000000 3.000000 4": 1,
	"floats gave 10.500000":               1,
	"thing 1 one 3 -5000000000 1":         1,
	thingSays:                             1,
	"failing gave -1 2":                   1,
	"paint gave -3 BLUE":                  1,
	"large 7 name -8":                     1,
	"halved gave -5000000000 true":        1,
	"tallied 4950 true":                   1,
	"chosen 200":                          1,
	"leaf 1: leaf+ middle+ outer+ main+":  1,
	"leaf 1000: leaf+ thread+":            2,
	"leaf 77: leaf+ main+":                1,
	"sorting: compare+ main+":             1,
	"mark 40 marked -5":                   1,
	"watched in store":                    3,
	"watched in fetch":                    0, // fetch reads; only the other watchpoint on the same data reports reads
	"touched in store":                    3,
	"touched in fetch":                    2,
	"counted in tallies":                  1, // a loop of exclusives, which would never end if it were stopped every time
	"executed middle":                     1,
	"qsort 8 4":                           1,
	"openat":                              1,
	"openat gave -2":                      1,
	"ended with 3":                        1,
	"values ended 3":                      1,
}

// thingSays is a struct with everything in it, as pretty prints it.
const thingSays = `{ .id = 1, .name = "one", .colour = GREEN, .in = [{ .s = -1, .low = 5, .high = 17 },{ .s = 2, .low = 1, .high = 3 }], ` +
	`.d = 0.25, .ll = -5000000000, .u = { .i = 1065353216, .f = 1 }, .tag = "tagge" }`

// buildValues builds values.c for a set, with and without optimisation: without it, prologues move arguments. Atomic
// operations are loops of exclusives.
func (s set) buildValues(t *testing.T, m *Image) {
	t.Helper()
	include := t.TempDir()
	os.Mkdir(filepath.Join(include, "sys"), 0o755)
	headers, _ := filepath.Glob("/usr/include/x86_64-linux-gnu/sys/sdt*.h")
	common, _ := filepath.Glob("/usr/include/sys/sdt*.h")
	for _, h := range append(headers, common...) {
		if err := os.Symlink(h, filepath.Join(include, "sys", filepath.Base(h))); err != nil {
			t.Fatal(err)
		}
	}
	for _, level := range []string{"-O0", "-O2"} {
		args := []string{"-I", include, level, "-g", "-pthread", "testdata/values.c"}
		if s.name == "a64" {
			args = append(args, "-mno-outline-atomics")
		}
		s.add(t, m, "values"+level, args...)
	}
}

// routines is a script that counts the calls of a Go program whose goroutines recur deeply, so that their stacks move.
const routines = `let enters = 0, leaves = 0, args = 0, words = 0, sum = 0;
probe("main.work", { enter(c) { enters++; args += c.args.n; words += c.arg2 }, leave(c) { leaves++; sum += c.ret } });
end(() => { print("work", enters, leaves, args, words, sum) });
`

// routinesSay is the output of the script: four times the calls with 0 to 200, each of which adds 1 at one of 512
// places to its result. The string before the number takes two words.
const routinesSay = "work 804 804 80400 80400 84420"

// contractCommands run values.js on the programs of a set.
func contractCommands(set string) (list []string) {
	for _, level := range []string{"-O0", "-O2"} {
		list = append(list, "/bin/gotap run -q /values.js -- /programs/"+set+"/values"+level)
	}
	return list
}

// checkContract checks that all lines were printed once for each run.
func checkContract(t *testing.T, out string, runs int) {
	t.Helper()
	got := map[string]int{}
	for line := range strings.Lines(out) {
		got[strings.TrimSpace(line)]++
	}
	for line, n := range contractSays {
		if got[line] != n*runs {
			t.Errorf("%q was printed %d times, not %d", line, got[line], n*runs)
		}
	}
}
