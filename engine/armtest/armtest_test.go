package armtest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gotap/engine/testenv"
)

// set is a set of programs for one instruction set, with the libraries that its dynamic programs need.
type set struct {
	name string
	gcc  string
	mode []string // chooses the instruction set
	libs string   // directory of the libraries
}

var sets = map[string]set{
	"a32":   {"a32", "arm-linux-gnueabihf-gcc", []string{"-marm", "-mfpu=neon"}, "/usr/arm-linux-gnueabihf/lib"},
	"thumb": {"thumb", "arm-linux-gnueabihf-gcc", []string{"-mthumb", "-mfpu=neon"}, "/usr/arm-linux-gnueabihf/lib"},
	"a64":   {"a64", "aarch64-linux-gnu-gcc", nil, "/usr/aarch64-linux-gnu/lib"},
}

// programs are the C programs of package engine's tests, with their additional compiler flags.
var programs = []struct {
	source string
	flags  []string
}{
	{"target.c", nil}, {"signals.c", nil}, {"real.c", []string{"-static"}},
	{"plain.c", nil}, {"plain.c", []string{"-static"}}, {"plain.c", []string{"-no-pie"}},
	{"victim.c", nil}, {"victim.c", []string{"-static"}}, {"siblings.c", nil}, {"twice.c", nil}, {"firstgone.c", nil}, {"asks.c", nil}, {"frames.c", nil}, {"readers.c", nil}, {"texts.c", nil},
}

const testdata = "../testdata"

// build builds the programs of a set into an image: those of package engine's tests under the names by which the tests
// look for them.
func (s set) build(t *testing.T, m *Image) {
	t.Helper()
	for _, p := range programs {
		name := strings.TrimSuffix(p.source, ".c") + strings.Join(p.flags, "")
		args := append([]string{"-O2", "-ftree-vectorize", "-g", "-pthread", filepath.Join(testdata, p.source), "-ldl"}, p.flags...)
		s.add(t, m, name, args...)
	}
	s.addLibraries(t, m)
	s.buildValues(t, m)
	if s.name == "a64" {
		s.add(t, m, "tilted", "-O2", "-g", filepath.Join(testdata, "tilted.c"))
		s.addGuarded(t, m)
	}
	s.add(t, m, "steploop", "-O2", "-static", "testdata/steploop.c")
}

// add compiles a program for the set's instruction set and adds it to an image.
func (s set) add(t *testing.T, m *Image, name string, args ...string) {
	t.Helper()
	args = slices.Concat([]string{"-o", "OUT"}, args, s.mode)
	add(t, m, "/programs/"+s.name+"/"+name, made(t, s.name+"/"+name, nil, s.gcc, args...))
}

// addGuarded adds a program that is built for branch protection.
func (s set) addGuarded(t *testing.T, m *Image) {
	t.Helper()
	s.add(t, m, "guarded", "-O2", "-g", "-mbranch-protection=standard", filepath.Join(testdata, "guarded.c"))
}

// addLibraries adds the libraries that dynamic programs need.
func (s set) addLibraries(t *testing.T, m *Image) {
	t.Helper()
	loaders, _ := filepath.Glob(filepath.Join(s.libs, "ld-linux*.so*"))
	for _, lib := range loaders {
		add(t, m, "/lib/"+filepath.Base(lib), lib)
	}
	triplet := filepath.Base(filepath.Dir(s.libs)) // where Debian's loaders search

	for _, lib := range []string{"libc.so.6", "libgcc_s.so.1"} { // the latter is needed to end a thread
		add(t, m, "/lib/"+triplet+"/"+lib, filepath.Join(s.libs, lib))
	}
}

// add adds a file to an image.
func add(t *testing.T, m *Image, at, from string) {
	t.Helper()
	if err := m.Add(at, from); err != nil {
		t.Fatal(err)
	}
}

// newImage begins the initramfs of a machine: the first process, the tests of package engine, commands.
func (m Machine) newImage(t *testing.T, commands []string) *Image {
	t.Helper()
	img := NewImage()
	add(t, img, "/init", m.built(t, "init", "build", "./guest"))
	add(t, img, "/engine.test", m.built(t, "engine.test", "test", "-c", "-vet=off", ".."))
	img.AddBytes("/commands", []byte(strings.Join(commands, "\n")+"\n"))
	return img
}

// image makes the initramfs of a machine with all programs of some sets, gotap and scripts.
func (m Machine) image(t *testing.T, names []string, commands []string) string {
	t.Helper()
	img := m.newImage(t, commands)
	add(t, img, "/bin/gotap", m.built(t, "gotap", "build", "../../cmd/gotap"))
	for _, n := range names {
		sets[n].build(t, img)
	}
	img.AddBytes("/count.js", []byte(script))
	img.AddBytes("/hits.js", []byte(hits))
	img.AddBytes("/idle.js", []byte(idle))
	img.AddBytes("/inline.js", []byte(inlineCounts))
	img.AddBytes("/busy.js", []byte(busy))
	add(t, img, "/values.js", "testdata/values.js")
	add(t, img, "/programs/routines", made(t, m.Debian+"/routines", m.environ(), "go", "build", "-o", "OUT", "../testdata/routines"))
	img.AddBytes("/routines.js", []byte(routines))
	return write(t, img)
}

// built returns the path of what the Go command makes for the machine.
func (m Machine) built(t *testing.T, name string, command ...string) string {
	t.Helper()
	last := len(command) - 1 // the package; without debug information, because linking is faster then
	args := slices.Concat(command[:last], []string{"-ldflags=-s -w", "-o", "OUT"}, command[last:])
	return made(t, m.Debian+"/"+name, m.environ(), "go", args...)
}

// environ returns the environment that builds for the machine.
func (m Machine) environ() []string { return append([]string{"CGO_ENABLED=0", "GOOS=linux"}, m.Go...) }

// write writes an image to a file.
func write(t *testing.T, img *Image) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "image")
	if err := img.Write(file); err != nil {
		t.Fatal(err)
	}
	return file
}

// script is what gotap runs in the machines: it counts calls and adds up their results.
const script = `let calls = 0, sum = 0;
probe("work", { enter() { calls++ }, leave(c) { sum += c.ret } });
end(() => { print("calls " + calls + " sum " + sum) });
`

// hits counts the calls of steploop, for comparison with the tracer in steploop.
const hits = `let calls = 0;
probe("work", (c) => { calls++; });
end(() => { print("hits " + calls); });
`

// scriptSays is the output of script for a program that calls the function with 0 to 199, and once with 3 in a child.
const scriptSays = "calls 201 sum 40007"

// engineTests are the tests of package engine that run on every set of programs.
var engineTests = []string{"TestCountsAreExact", "TestRealProgram", "TestReturns", "TestWatchpointsAlone", "TestStacks", "TestActionAtAttachAndDetach"}

// onceTests run only on the first set of programs of each machine, like the tests that kill sessions: they take
// long, and their results depend on the kernel more than on the instruction set.
var onceTests = []string{"TestEveryInstruction", "TestCallerAtReturn", "TestChildren", "TestHoldWhereItFaulted", "TestFaultingInstructionGivesOneEvent", "TestSystemCalls",
	"TestReturnsInSiblings", "TestCallsOutlastAnExchange", "TestDeepRecursion", "TestAbsentPlaces", "TestWatchpoints", "TestWatchpointsAreTakenOff",
	"TestCodeMappedTwice", "TestManyRounds", "TestFirstThreadGone", "TestEndWithoutFirstThread", "TestOneStopPerHit", "TestDetachUnderLoad",
	"TestStoppedTargetStaysStopped", "TestFilters"}

// inlineTests are those of programs that run in the target.
var inlineTests = []string{"TestInlineARM64Counts", "TestInlineARM64Doorbell", "TestInlineARM64Logs", "TestInlineARM64Records", "TestInlineARM64Thread", "TestInlineARM64Calls", "TestInlineARM64Times", "TestInlineARM64Frames", "TestInlineARM64Reads", "TestInlineARM64Keys", "TestInlineARM64EveryInstruction", "TestInlineARM64Detach", "TestInlineARM64Changes", "TestInlineARM64Floats", "TestInlineARM64Caller", "TestInlineMadeTexts", "TestInlineARM64Texts",
	"TestMixedARM64", "TestMixedTilted", "TestMixedExplains", "TestMixedHeedsRings", "TestGuarded"}

// engineCommand runs tests of package engine on the programs of a set, with all of their rounds in long runs.
func engineCommand(set string, tests []string) string {
	command := fmt.Sprintf("GOTAP_PROGRAMS=/programs/%s /engine.test -test.v -test.short -test.run ^(%s)$", set, strings.Join(tests, "|"))
	if os.Getenv("GOTAP_LONG") != "" {
		return "GOTAP_FULL=1 " + command
	}
	return command
}

// live boots a machine for sets of programs and makes sure that every test passed, once for each set.
func live(t *testing.T, m Machine, names ...string) {
	testenv.Require(t, append(m.Needs(), testenv.SDT)...)
	kernel, err := m.KernelFile()
	if err != nil {
		t.Log(err)
		testenv.Lack(t, testenv.ARMKernel)
	}
	var commands []string
	for i, n := range names {
		tests := engineTests
		if i == 0 {
			tests = slices.Concat(onceTests, tests)
		}
		commands = append(commands, engineCommand(n, tests), "/bin/gotap run -q /count.js -- /programs/"+n+"/plain 200")
		commands = append(commands, contractCommands(n)...)
		if i == 0 {
			commands = append(commands, killedCommands(n)...)
		}
		if n == "a64" {
			commands = append(commands, engineCommand(n, inlineTests))
			commands = append(commands, inlineKilled(n)...)
			commands = append(commands, "/bin/gotap run -q --engine inline /count.js -- /programs/a64/plain 200")
		}
		commands = append(commands, "/programs/"+n+"/steploop traced 2000", "/bin/gotap run -q /hits.js -- /programs/"+n+"/steploop plain 2000")
	}
	commands = append(commands, "/bin/gotap run -q /routines.js -- /programs/routines")
	began := time.Now()
	out, err := m.Boot(kernel, m.image(t, names, commands), 45*time.Minute)
	t.Logf("%s: %.0f s", m.Debian, time.Since(began).Seconds())
	keep(t, out)
	if err != nil || !strings.Contains(out, Done+"0") {
		t.Fatalf("%v\n%s", err, Failures(out))
	}
	for _, test := range engineTests {
		if n := strings.Count(out, "--- PASS: "+test+" "); n != len(names) {
			t.Errorf("%s passed %d times, not %d", test, n, len(names))
		}
	}
	for _, test := range onceTests {
		if !strings.Contains(out, "--- PASS: "+test+" ") {
			t.Errorf("%s did not pass", test)
		}
	}
	scripts := len(names)
	if slices.Contains(names, "a64") {
		scripts++
	}
	if n := strings.Count(out, scriptSays); n != scripts {
		t.Errorf("gotap counted right %d times, not %d", n, scripts)
	}
	checkContract(t, out, 2*len(names))
	sessions := 2
	if slices.Contains(names, "a64") {
		sessions++
		checkInlineKilled(t, out)
		for _, test := range inlineTests {
			if !strings.Contains(out, "--- PASS: "+test+" ") {
				t.Errorf("%s did not pass", test)
			}
		}
	}
	checkKilled(t, out, sessions)
	if a, b := strings.Count(out, "\n2000 hits\n"), strings.Count(out, "\nhits 2000\n"); a != len(names) || b != len(names) {
		t.Errorf("of %d runs each the loop of a debugger counted right %d times, gotap %d", len(names), a, b)
	}
	if !strings.Contains(out, routinesSay) {
		t.Errorf("the calls of goroutines were not counted: %q", routinesSay)
	}
	for line := range strings.Lines(out) {
		if strings.Contains(line, "a hit") || strings.Contains(line, "a call") || strings.Contains(line, "guest: ") { // figures, and the time that each command took
			t.Log(strings.TrimSpace(line))
		}
	}
}

// keep writes the console output of a machine to the directory that GOTAP_CONSOLES names.
func keep(t *testing.T, out string) {
	t.Helper()
	dir := os.Getenv("GOTAP_CONSOLES")
	if dir == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(dir, t.Name()), []byte(out), 0o644); err != nil {
		t.Log(err)
	}
}

// TestARM runs A32 and Thumb programs on a kernel for 32-bit ARM. The machines have one processor each, and run
// side by side.
func TestARM(t *testing.T) {
	t.Parallel()
	live(t, ARM, "thumb", "a32")
}

// TestScalable runs a program with scalable vectors on a processor that has them, pointer authentication and branch
// targets.
func TestScalable(t *testing.T) {
	t.Parallel()
	m := ARM64
	m.CPU = "max,pauth-impdef=on,sme=off,lpa2=off"
	testenv.Require(t, append(m.Needs(), testenv.SDT)...)
	kernel, err := m.KernelFile()
	if err != nil {
		t.Log(err)
		testenv.Lack(t, testenv.ARMKernel)
	}
	img, a64 := m.newImage(t, []string{engineCommand("a64", []string{"TestScalableVectors", "TestGuarded"})}), sets["a64"]
	a64.addLibraries(t, img)
	a64.addGuarded(t, img)
	a64.add(t, img, "scalable", "-O2", "-g", "-pthread", "-march=armv8.2-a+sve", filepath.Join(testdata, "scalable.c"))
	out, err := m.Boot(kernel, write(t, img), 20*time.Minute)
	keep(t, out)
	if err != nil || !strings.Contains(out, Done+"0") || !strings.Contains(out, "--- PASS: TestScalableVectors ") || !strings.Contains(out, "--- PASS: TestGuarded ") {
		t.Fatalf("%v\n%s", err, Failures(out))
	}
}

// TestARM64 runs A64 programs, and Thumb ones, on a kernel for 64-bit ARM.
func TestARM64(t *testing.T) {
	t.Parallel()
	live(t, ARM64, "a64", "thumb")
}
