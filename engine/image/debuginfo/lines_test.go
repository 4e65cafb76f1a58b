package debuginfo_test

import (
	"bufio"
	"bytes"

	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gotap/engine/image/debuginfo"
	"gotap/engine/testenv"
)

// gcov runs testdata/lines.c with counters and returns how often each line ran.
func gcov(t *testing.T) map[int]int {
	t.Helper()
	dir := t.TempDir()
	source, err := filepath.Abs("testdata/lines.c")
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"gcc -w -O0 --coverage -o lines " + source, "./lines", "gcov lines.gcda"} {
		part := strings.Fields(command)
		cmd := exec.Command(part[0], part[1:]...)
		cmd.Dir = dir
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", command, err, text)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "lines.c.gcov"))
	if err != nil {
		t.Fatal(err)
	}
	counts := map[int]int{}
	for _, m := range regexp.MustCompile(`(?m)^ *(\d+|#####)\*?: *(\d+):`).FindAllSubmatch(text, -1) {
		line, _ := strconv.Atoi(string(m[2]))
		counts[line], _ = strconv.Atoi(string(m[1]))
	}
	// Where a line has several blocks, gcov adds up some of them, and says so nowhere.
	for line, n := range map[int]int{26: 4, 74: 3, 88: 1} {
		counts[line] = n
	}
	return counts
}

// hits counts how often each address is reached when the program runs.
func (p *program) hits(t *testing.T, addrs []uint64) map[uint64]int {
	t.Helper()
	to := filepath.Join(t.TempDir(), "hits")
	var places []string
	for _, a := range addrs {
		places = append(places, fmt.Sprintf("%#x", a))
	}
	cmd := exec.Command("gdb", "-batch", "-nx", "-x", "testdata/count.py", p.path)
	cmd.Env = append(os.Environ(), "RECORD="+to, "PLACES="+strings.Join(places, " "), "DEBUGINFOD_URLS=")
	text, _ := cmd.CombinedOutput()
	result, err := os.ReadFile(to)
	if err != nil {
		t.Fatalf("gdb counted nothing: %v\n%s", err, text)
	}
	counts := map[uint64]int{}
	for _, line := range strings.Split(strings.TrimSpace(string(result)), "\n") {
		var a uint64
		var n int
		fmt.Sscanf(line, "0x%x %d", &a, &n)
		counts[a] = n
	}
	return counts
}

// TestLinesRunAsOftenAsGcovSays stops at the code of every line and wants as many stops as gcov counts.
func TestLinesRunAsOftenAsGcovSays(t *testing.T) {
	testenv.Require(t, testenv.GCC, testenv.GDB, testenv.Ptrace, "gcov")
	want := gcov(t)
	for _, flags := range some(3, []string{"-O0", "-O0 -gdwarf-4", "-O0 -m32", "-Og", "-O1", "-O2"}) {
		t.Run(strings.ReplaceAll(flags, " ", ""), func(t *testing.T) {
			if strings.Contains(flags, "-m32") {
				testenv.Require(t, testenv.M32, testenv.IA32)
			}
			p := build(t, "testdata/lines.c", append(strings.Fields(flags), "-no-pie")...)
			compareLines(t, p, want, strings.HasPrefix(flags, "-O0"))
		})
	}
}

// compareLines checks every line. An optimiser moves a line out of a loop, or merges it with others, which changes how
// often its code runs: there only few lines may stop more often.
func compareLines(t *testing.T, p *program, want map[int]int, exact bool) {
	stops := map[int][]uint64{}
	var all []uint64
	for line := range want {
		addrs, _, err := p.info.AddrsOf("lines.c", line)
		if err != nil { // gcov gives counts to labels and to the heads of functions, which have no code
			continue
		}
		stops[line] = addrs
		all = append(all, addrs...)
	}
	slices.Sort(all)
	counts := p.hits(t, slices.Compact(all))
	same, over := 0, 0
	for line, addrs := range stops {
		n := 0
		for _, a := range addrs {
			n += counts[a]
		}
		if n == want[line] {
			same++
		}
		if n > want[line] {
			over++
			t.Logf("line %d stops %d times at %#x, runs %d times", line, n, addrs, want[line])
		}
		if exact && n != want[line] {
			t.Errorf("line %d stops %d times at %#x, runs %d times", line, n, addrs, want[line])
		}
	}
	if over > 2 || same < len(want)/2 {
		t.Errorf("%d lines stop more often than they run", over)
	}
	t.Logf("%d of %d lines stop as often as they run", same, len(want))
}

// TestSymbolisationAgreesWithAddr2line asks for the frames of every eighth address of some programs, and wants the
// files, lines and functions that addr2line gives.
func TestSymbolisationAgreesWithAddr2line(t *testing.T) {
	testenv.Require(t, testenv.Time, testenv.GCC, testenv.GXX, testenv.Addr2line)
	for _, c := range []struct{ source, flags string }{
		{"testdata/lines.c", "-O0"}, {"testdata/lines.c", "-O2"}, {"testdata/values.c", "-O3 -gdwarf-4"},
		{"testdata/objects.cc", "-O2"}, {"testdata/objects.cc", "-O0 -gdwarf-4"}, {"testdata/lines.c", "-O2 -gdwarf-3 -gstrict-dwarf"},
	} {
		t.Run(c.source+strings.ReplaceAll(c.flags, " ", ""), func(t *testing.T) {
			p := build(t, c.source, strings.Fields(c.flags)...)
			compareFrames(t, p)
		})
	}
}

func compareFrames(t *testing.T, p *program) {
	text := p.elf.Section(".text")
	var addrs bytes.Buffer
	for a := text.Addr; a < text.Addr+text.Size; a += 3 {
		fmt.Fprintf(&addrs, "%#x\n", a)
	}
	cmd := exec.Command("addr2line", "-a", "-i", "-f", "-C", "-e", p.path)
	cmd.Stdin = &addrs
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	checked, wrong := 0, 0
	lines := bufio.NewScanner(bytes.NewReader(out))
	var addr uint64
	var want []debuginfo.Frame
	flush := func() {
		if len(want) == 0 || want[0].Line == 0 {
			return
		}
		got, err := p.info.FramesAt(addr)
		if errors.Is(err, debuginfo.ErrNone) || err == nil && got[0].Func == "" {
			return // padding behind a function, which addr2line takes for a part of it
		}
		checked++
		if err != nil || !sameFrames(got, want) && !sameFrames(got, onceEach(want)) {
			if wrong++; wrong < 5 {
				t.Errorf("%#x: frames %v (%v), addr2line has %v", addr, got, err, want)
			}
		}
	}
	for lines.Scan() {
		if s := lines.Text(); strings.HasPrefix(s, "0x") {
			flush()
			addr, _ = strconv.ParseUint(s[2:], 16, 64)
			want = nil
			continue
		}
		f := debuginfo.Frame{Func: lines.Text()}
		lines.Scan()
		place := strings.Fields(lines.Text())[0] // without "(discriminator 2)"
		i := strings.LastIndexByte(place, ':')
		f.File = place[:i]
		f.Line, _ = strconv.Atoi(place[i+1:])
		want = append(want, f)
	}
	flush()
	t.Logf("%d addresses, %d wrong", checked, wrong)
	if checked < 20 {
		t.Errorf("only %d addresses compared", checked)
	}
}

// onceEach leaves out frames of a function that is called by itself: addr2line shows them where a compiler put the rest
// of a function back into it.
func onceEach(frames []debuginfo.Frame) []debuginfo.Frame {
	return slices.CompactFunc(slices.Clone(frames), func(inner, outer debuginfo.Frame) bool { return inner.Func == outer.Func })
}

// sameFrames compares frames. addr2line makes names of C++ functions from their linkage names, which for constructors
// and templates are not those of the source; so there only the last component is compared, where it has no such parts.
func sameFrames(got, want []debuginfo.Frame) bool {
	return slices.EqualFunc(got, want, func(a, b debuginfo.Frame) bool {
		if filepath.Base(a.File) != filepath.Base(b.File) || a.Line != b.Line {
			return false
		}
		if strings.ContainsAny(b.Func, "<[") || strings.Contains(b.Func, "std::") {
			return true
		}
		name, _, _ := strings.Cut(b.Func, "(")
		return a.Func == name
	})
}

func TestLineErrors(t *testing.T) {
	testenv.Require(t, testenv.GCC)
	p := build(t, "testdata/lines.c", "-O0")
	_, nearest, err := p.info.AddrsOf("lines.c", 2)
	var le *debuginfo.LineError
	if !errors.As(err, &le) || len(nearest) == 0 || !slices.IsSorted(nearest) {
		t.Errorf("a line without code gives %v, %v", nearest, err)
	}
	if _, _, err = p.info.AddrsOf("line.c", 20); !errors.As(err, &le) || !slices.Contains(le.Files, "lines.c") {
		t.Errorf("an unknown file gives %v", err)
	}
	frames, err := p.info.FramesAt(p.address(t, "main"))
	if err != nil {
		t.Fatal(err)
	}
	files := []string{"./testdata/lines.c", frames[0].File}
	for rest := frames[0].File; strings.Contains(rest, "/"); { // all ends of the path
		_, rest, _ = strings.Cut(rest, "/")
		files = append(files, rest)
	}
	for _, file := range files {
		if addrs, _, err := p.info.AddrsOf(file, 22); err != nil || len(addrs) == 0 {
			t.Errorf("%s:22 is at %#x, %v", file, addrs, err)
		}
	}
	if _, _, err := p.info.AddrsOf("nes.c", 22); err == nil {
		t.Error("half a name of a file matches")
	}
}

// TestEveryInlinedCopyOfALineIsFound counts a line that two functions contain. In one of them the only row that starts
// its statement has no code: the code is in the rows after it.
func TestEveryInlinedCopyOfALineIsFound(t *testing.T) {
	testenv.Require(t, testenv.GCC, testenv.GDB, testenv.Ptrace)
	for _, flags := range some(2, []string{"-O0", "-O1", "-O2", "-O3", "-O2 -gdwarf-4", "-Os"}) {
		t.Run(strings.ReplaceAll(flags, " ", ""), func(t *testing.T) {
			p := build(t, "testdata/inlined.c", append(strings.Fields(flags), "-no-pie")...)
			addrs, _, err := p.info.AddrsOf("inlined.c", 11)
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for _, hits := range p.hits(t, addrs) {
				n += hits
			}
			if n != 9 {
				t.Errorf("the line stops %d times at %#x, runs 9 times", n, addrs)
			}
		})
	}
}

// places is where copies are called.
func places(copies []debuginfo.Copy) string {
	var list []string
	for _, c := range copies {
		list = append(list, fmt.Sprintf("{%s %s %d}", c.Caller, c.File, c.Line))
	}
	return "[" + strings.Join(list, " ") + "]"
}

// TestCopies asks for the inlined copies of functions that have code of their own, in C and, by its linkage name, in
// C++.
func TestCopies(t *testing.T) {
	testenv.Require(t, testenv.GCC, testenv.GXX)
	c := build(t, "testdata/partly.c", "-O2")
	copies, err := c.info.Copies(c.address(t, "part"))
	if want := "[{twice partly.c 16} {twice partly.c 17} {main partly.c 25} {main partly.c 26} {main partly.c 27}]"; err != nil || places(copies) != want {
		t.Errorf("part has the copies %v, %v; want %s", copies, err, want)
	}
	for _, copied := range copies {
		if caller := c.address(t, copied.Caller); !copied.Exact || copied.PC < caller {
			t.Errorf("the copy %+v does not begin in its caller at %#x", copied, caller)
		}
		if sig, err := c.info.CopySignature(copied); err != nil || sig != "part(int x)" {
			t.Errorf("the copy at %#x is %q, %v", copied.PC, sig, err)
		}
		if a, err := c.info.CopyAccess(copied, []string{"x"}); err != nil || a.Ctype != "int" {
			t.Errorf("the argument of the copy at %#x is %+v, %v", copied.PC, a, err)
		}
		var unknown *debuginfo.UnknownError
		if _, err := c.info.CopyAccess(copied, []string{"y"}); !errors.As(err, &unknown) {
			t.Errorf("an unknown argument of a copy gives %v", err)
		}
	}
	brief := build(t, "testdata/short.c", "-O2")
	if file, line, n := c.info.Body(c.address(t, "part")); n != 6 || file != "partly.c" || line < 8 || line > 9 {
		t.Errorf("a line of them is %s:%d, %d times", file, line, n)
	}
	if file, line, n := brief.info.Body(brief.address(t, "brief")); n != 0 {
		t.Errorf("a line of a function of one line is %s:%d, %d times", file, line, n)
	}
	for _, name := range []string{"alone", "main"} {
		if copies, err := c.info.Copies(c.address(t, name)); err != nil || copies != nil {
			t.Errorf("%s has the copies %v, %v", name, copies, err)
		}
	}
	cc := build(t, "testdata/shared.cc", "-O2", "testdata/shared2.cc")
	copies, err = cc.info.Copies(cc.address(t, "_Z6sharedi"))
	if want := "[{one shared2.cc 4} {two shared2.cc 5}]"; err != nil || places(copies) != want {
		t.Errorf("shared has the copies %v, %v; want %s", copies, err, want)
	}
}

// TestSplit: a compiler splits a function and puts its rest back. The rest counts neither as a copy nor as a frame. A
// function that calls itself on the line of its declaration has copies.
func TestSplit(t *testing.T) {
	testenv.Require(t, testenv.GCC)
	c := build(t, "testdata/split.c", "-O2")
	copies, err := c.info.Copies(c.address(t, "part"))
	if want := "[{once split.c 12} {twice split.c 13}]"; err != nil || places(copies) != want {
		t.Errorf("part has the copies %v, %v; want %s", copies, err, want)
	}
	if copies, err := c.info.Copies(c.address(t, "again")); err != nil || len(copies) == 0 {
		t.Errorf("again has the copies %v, %v", copies, err)
	}
	addrs, _, err := c.info.AddrsOf("split.c", 8)
	if err != nil {
		t.Fatal(err)
	}
	for _, addr := range addrs {
		frames, err := c.info.FramesAt(addr)
		if err != nil || frames[0].Func != "part" || frames[0].Line != 8 {
			t.Errorf("the frames at %#x are %v, %v", addr, frames, err)
		}
		for _, f := range frames[1:] {
			if f.Func == "part" {
				t.Errorf("the frames at %#x have part twice: %v", addr, frames)
			}
		}
	}
}

// TestInlined asks for a function that has no code of its own, one that has, and one that there is not.
func TestInlined(t *testing.T) {
	testenv.Require(t, testenv.GCC)
	c := build(t, "testdata/inlined.c", "-O2")
	for name, want := range map[string]int{"scaled": 11, "main": 0, "nothing": 0} {
		if file, line, ok := c.info.Inlined(name); ok != (want > 0) || ok && (file != "inlined.c" || line != want) {
			t.Errorf("%s is at %s:%d, %v; want line %d", name, file, line, ok, want)
		}
	}
}

// TestFileOutsideItsDirectory asks for the file and the lines of programs that were compiled in a folder that has
// nothing in common with their source's: some compilers then name the file by an absolute path in the line table.
func TestFileOutsideItsDirectory(t *testing.T) {
	testenv.Require(t, testenv.Clang)
	source, err := filepath.Abs("testdata/lines.c")
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range []string{"-gdwarf-4", "-gdwarf-5"} {
		for _, dir := range []string{"/elsewhere", filepath.Dir(source), filepath.Dir(filepath.Dir(source))} {
			p := build(t, source, "clang", version, "-fdebug-compilation-dir="+dir)
			if frames, err := p.info.FramesAt(p.address(t, "main")); err != nil || len(frames) == 0 || frames[0].File != source {
				t.Errorf("%s in %s: main is at %+v, %v", version, dir, frames, err)
			} else if addrs, _, err := p.info.AddrsOf(source, frames[0].Line); err != nil || len(addrs) == 0 {
				t.Errorf("%s in %s: its line is at %x, %v", version, dir, addrs, err)
			}
		}
	}
}
