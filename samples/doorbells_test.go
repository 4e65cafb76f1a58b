package samples_test

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotap"
	arch64 "gotap/arch/arm64"
	"gotap/arch/x86"
	"gotap/compile"
	"gotap/runtime"
	"gotap/runtime/arena"
	"gotap/runtime/native"
	"gotap/runtime/native/amd64"
	"gotap/runtime/native/arm64"
	"gotap/runtime/record"
	"gotap/samples"
)

// unregistered is an arena that does not remember programs.
type unregistered struct{ *arena.Arena }

func (unregistered) Register(record.Program) uint32 { return 1 }

// register is the environment's naming of registers, with the vector registers.
func register(name string) (index, bits, shift int, ok bool) {
	var n int
	if _, err := fmt.Sscanf(name, "xmm%d", &n); err == nil {
		return runtime.FloatWords + 2*n, 64, 0, true
	}
	return x86.New64().RegIndex(name)
}

// processor is one that has native code.
type processor struct {
	golden   string
	features native.Features
	texts    int
	errno    int64
	register func(name string) (index, bits, shift int, ok bool)
}

var processors = []processor{
	{"doorbells.txt", amd64.Features, 1 << 10, -64, register},
	{"doorbells-arm64.txt", arm64.Features, 1 << 10, 0, arch64.A64.RegIndex},
}

// planOf plans native code for a program, at a place where it has all that it may find there.
func (m *processor) planOf(c *gotap.Checked, p gotap.Program) (*native.Plan, error) {
	code, err := compile.Lower(p.Program, compile.Env{Arena: unregistered{c.Arena}, Register: m.register, WordSize: 8})
	if err != nil {
		return nil, err // it names a register of another processor
	}
	const this = 4 << 10
	return native.PlanOf(code, c.Arena, m.features, native.Place{Thread: true, Clock: true, Reads: true, Call: true, Returns: true, Texts: m.texts,
		Ends: strings.HasSuffix(p.Title, " leave"), This: this, Errno: m.errno, Names: &native.Names{Func: "function", Module: "/usr/lib/library.so", Probe: "probe"}})
}

// TestDoorbells compares the operations at which the programs of all samples stop in native code, and how many programs
// stop at each, with what they were before.
func TestDoorbells(t *testing.T) {
	for i := range processors {
		t.Run(processors[i].golden, processors[i].doorbells)
	}
}

func (m *processor) doorbells(t *testing.T) {
	all, err := samples.All()
	if err != nil {
		t.Fatal(err)
	}
	programs, stop, always, why := 0, 0, 0, map[string]int{}
	for _, s := range all {
		c, err := gotap.Check(gotap.Script{Name: s.File, Text: s.Text}, gotap.CheckOptions{Unsafe: true})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		for _, p := range c.Programs {
			programs++
			plan, err := m.planOf(c, p)
			if err != nil {
				why["refused: "+err.Error()]++
				continue
			}
			reasons := map[string]bool{}
			for _, pc := range plan.Doorbells() {
				reasons[plan.Ops[pc].Why] = true
			}
			for reason := range reasons {
				why[reason]++
			}
			stop += min(len(reasons), 1)
			if plan.AlwaysRings() {
				always++
			}
		}
	}
	var got bytes.Buffer
	fmt.Fprintf(&got, "%d programs\n%d may stop\n%d always stop\n", programs, stop, always)
	for _, reason := range slices.SortedFunc(maps.Keys(why), func(a, b string) int { return cmp.Or(why[b]-why[a], cmp.Compare(a, b)) }) {
		fmt.Fprintf(&got, "%4d  %s\n", why[reason], reason)
	}
	golden := filepath.Join("testdata", m.golden)
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(golden); err != nil || !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%v; the doorbells have changed (go test -update rewrites them):\n%s", err, got.Bytes())
	}
}
