package debuginfo_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"gotap/compile"
	"gotap/engine/image/debuginfo"
	"gotap/engine/testenv"
	"gotap/engine/testenv/fixture"
)

// expressions are what is asked at every instruction of the functions of values.c: a path, as a script writes it and as
// C does.
var expressions = map[string][][2]string{
	"walk": {{"p", "p"}, {"by", "by"}, {"sum", "sum"}, {"i", "i"}, {"p.kind", "p->kind"}, {"p.count", "p->count"}, {"p.code", "p->code"},
		{"p.weight", "p->weight"}, {"p.next.code", "p->next->code"}, {"p.whole", "p->whole"}, {"p.part.2", "p->part[2]"}, {"p.in.far", "p->in.far"},
		{"p.next.in.near.1", "p->next->in.near[1]"}, {"p.1.weight", "p[1].weight"}, {"value", "value"}, {"factor", "factor"}, {"scaled", "scaled"}},
	"mixed": {{"d", "d"}, {"f", "f"}, {"u", "u"}, {"t.a", "t.a"}, {"t.b", "t.b"}, {"t.c", "t.c"}, {"r", "r"}, {"small", "small"}},
	"stack": {{"a", "a"}, {"b", "b"}, {"c", "c"}, {"g", "g"}, {"h", "h"}, {"v.0", "v[0]"}, {"v.3", "v[3]"}},
}

func questions() string {
	var parts []string
	for function, list := range expressions {
		var exprs []string
		for _, e := range list {
			exprs = append(exprs, e[1])
		}
		parts = append(parts, function+"="+strings.Join(exprs, ","))
	}
	return strings.Join(parts, ";")
}

// inlined are names of the function that is inlined into walk.
var inlined = map[string]bool{"value": true, "factor": true, "scaled": true}

// tally counts what came of comparing with gdb.
type tally struct{ equal, bothNone, entryOnly, early, computed int }

// TestValuesAgreeWithGDB asks for every variable at every instruction of some functions, and wants gdb's value. Where
// gdb knows nothing nothing may be made up; gdb knows more only where it goes back to the caller for what a
// parameter was at the entry.
func TestValuesAgreeWithGDB(t *testing.T) {
	testenv.Require(t, testenv.Time, testenv.GCC, testenv.GDB, testenv.AMD64, testenv.Ptrace)
	for _, flags := range []string{"-O0", "-O1", "-O2", "-O2 -gdwarf-4", "-O2 -gdwarf-3 -gstrict-dwarf", "-Og", "-O2 -m32", "-O0 -m32",
		"-O2 -flto", "-O3 -funroll-loops"} { // other forms are compared in TestFormsAgree
		t.Run(strings.ReplaceAll(flags, " ", ""), func(t *testing.T) {
			if strings.Contains(flags, "-m32") {
				testenv.Require(t, testenv.M32, testenv.IA32)
			}
			p := build(t, "testdata/values.c", strings.Fields(flags)...)
			var sum tally
			for _, s := range p.record(t, "walk mixed stack", questions(), 40) {
				for _, e := range expressions[s.Function] {
					compareValue(t, p, s, e, &sum)
				}
			}
			t.Logf("%+v", sum)
			if sum.equal < 100 || sum.computed > sum.equal/10 {
				t.Errorf("only %d values compared, %d not read", sum.equal, sum.computed)
			}
		})
	}
}

func compareValue(t *testing.T, p *program, s *stop, e [2]string, sum *tally) {
	a, err := p.info.Access(s.pc(), strings.Split(e[0], "."))
	got := ""
	if err == nil {
		got, err = s.eval(a)
		if err != nil { // memory that is not recorded: a null pointer
			sum.bothNone++
			return
		}
	}
	want := s.Values[e[1]]
	var out *debuginfo.OptimisedOutError
	var access *debuginfo.AccessError
	switch {
	case want == nil && err != nil:
		sum.bothNone++
	case want == nil && inlined[e[0]]:
		sum.early++ // at the first instruction of an inlined call gdb still is in the caller
	case want == nil:
		sum.early++ // the calling convention knows better than gdb, at the first instructions
		if s.pc() > p.address(t, s.Function)+16 {
			t.Errorf("%s+%#x: %s is %s (%+v), gdb has none", s.Function, s.pc()-p.address(t, s.Function), e[0], got, a)
		}
	case errors.As(err, &out):
		sum.entryOnly++
	case errors.As(err, &access) && (strings.Contains(access.Reason, "computation") || strings.Contains(access.Reason, "register 11")):
		sum.computed++ // an access has no steps for it, or it is on the stack of the x87 unit
	case err == nil && sameNumber(got, *want):
		sum.equal++
	case s.pc() <= p.address(t, s.Function)+64 && p.info.InPrologue(s.pc()):
		sum.early++ // gdb reads what is not stored yet
	default:
		t.Errorf("%s+%#x: %s is %s (%+v, %v), gdb has %s", s.Function, s.pc()-p.address(t, s.Function), e[0], got, a, err, *want)
	}
}

// sameNumber compares texts of numbers: Python writes floats differently.
func sameNumber(a, b string) bool {
	trim := func(s string) string { return strings.TrimSuffix(s, ".0") }
	return strings.EqualFold(trim(a), trim(b))
}

// TestValuesByIndex asks the same of a program by LLVM, whose location lists are found by index and give addresses by
// index too.
func TestValuesByIndex(t *testing.T) {
	testenv.Require(t, testenv.Time, testenv.Rust, testenv.GDB, testenv.AMD64, testenv.Ptrace)
	ask := map[string][][2]string{
		"rsum": {{"k", "k"}, {"s", "s"}, {"v.length", "v.length"}, {"v.data_ptr.0", "*v.data_ptr"}},
		"rmix": {{"a", "a"}, {"b", "b"}, {"c", "c"}, {"d", "d"}},
	}
	t.Setenv("LANGUAGE", "c")
	for _, flags := range []string{"-C opt-level=2 -C dwarf-version=5", "-C opt-level=1 -C dwarf-version=4", "-C opt-level=0"} {
		t.Run(strings.ReplaceAll(flags, " ", ""), func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "program")
			if text, err := fixture.Command("rustc", append(strings.Fields(flags), "-g", "-o", out, "testdata/index.rs")...).CombinedOutput(); err != nil {
				t.Fatalf("cannot build: %v\n%s", err, text)
			}
			p := open(t, out)
			var sum tally
			for _, s := range p.record(t, "rsum rmix", "rsum=k,s,v.length,*v.data_ptr;rmix=a,b,c,d", 40) {
				for _, e := range ask[s.Function] {
					compareValue(t, p, s, e, &sum)
				}
			}
			t.Logf("%+v", sum)
			if sum.equal < 30 {
				t.Errorf("only %d values compared", sum.equal)
			}
		})
	}
}

// TestPairsOfRust reads what Rust passes where C has no like of it, at the entry of functions called once with values
// written in pairs.rs.
func TestPairsOfRust(t *testing.T) {
	testenv.Require(t, testenv.Rust, testenv.GDB, testenv.AMD64, testenv.Ptrace)
	want := map[string]map[string]string{
		"rslice": {"a.length": "3", "a.data_ptr.1": "8", "t.length": "5", "t.data_ptr.0": "104"},
		"rpair":  {"p.__0": "-4", "p.__1": "200", "b.0": "-40", "r.lo": "10", "r.hi": "20", "w.__0": "-5", "last": "-6"},
		"rlarge": {"v.len": "2", "l.a": "3", "l.b": "-3", "l.c": "5", "after": "-9"},
		"rsplit": {"e": "5", "s.length": "7", "s.data_ptr.0": "97", "f": "-8"},
		"rfloat": {"p.__0": "2.5", "p.__1": "-7", "f": "0.25"},
	}
	t.Setenv("LANGUAGE", "c")
	for _, flags := range some(2, []string{"-C opt-level=0", "-C opt-level=2"}) {
		t.Run(strings.ReplaceAll(flags, " ", ""), func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "program")
			if text, err := fixture.Command("rustc", append(strings.Fields(flags), "-g", "--crate-name", "pairs", "-o", out, "testdata/pairs.rs")...).CombinedOutput(); err != nil {
				t.Fatalf("cannot build: %v\n%s", err, text)
			}
			p := open(t, out)
			entered := map[uint64]*stop{}
			for _, s := range p.record(t, "'pairs::rslice' 'pairs::rpair' 'pairs::rlarge' 'pairs::rsplit' 'pairs::rfloat'", "", 0) {
				entered[s.pc()] = s
			}
			if a, err := p.info.Access(p.address(t, "_ZN5pairs5renum17h0123456789abcdefE"), []string{"few", "0"}); err == nil && a.Base == compile.BaseFrame {
				t.Errorf("an array of unknown convention is read before it is stored: %+v", a)
			}
			for name, values := range want {
				s := entered[p.address(t, fmt.Sprintf("_ZN5pairs%d%s17h0123456789abcdefE", len(name), name))]
				if s == nil {
					t.Errorf("%s was not reached", name)
					continue
				}
				for path, value := range values {
					checkRust(t, p, s, name, path, value)
				}
			}
		})
	}
}

// checkRust compares one value. What an optimiser took away may be said to be away.
func checkRust(t *testing.T, p *program, s *stop, name, path, value string) {
	t.Helper()
	a, err := p.info.Access(s.pc(), strings.Split(path, "."))
	var away *debuginfo.OptimisedOutError
	if errors.As(err, &away) {
		t.Logf("%s: %v", name, err)
		return
	}
	got := ""
	if err == nil {
		got, err = s.eval(a)
	}
	if got != value {
		t.Errorf("%s: %s is %q (%+v, %v), want %s", name, path, got, a, err, value)
	}
}

// TestObjectsOfCPlusPlus reads what C++ adds, at the entry of functions called once with values written in objects.cc.
func TestObjectsOfCPlusPlus(t *testing.T) {
	testenv.Require(t, testenv.GXX, testenv.GDB, testenv.AMD64, testenv.Ptrace)
	want := map[string]map[string]string{
		"_ZN3zoo6Animal4feedEiRKf": {"amount": "12", "rate": "0.5", "this.id": "7", "this.weight": "3.25", "this.kind": "2", "this.tame": "1",
			"this.legs": "4"},
		"_ZN3zoo8by_valueENS_7TrackedEi":                  {"t.value": "5", "after": "-3"},
		"_ZN3zoo5plainENS_5EmptyENS_5PlainEi":             {"p.a": "11", "p.b": "2.5", "after": "-4"},
		"_ZN3zoo4makeEli":                                 {"v": "6", "w": "-7"},
		"_ZN3zoo10make_plainEli":                          {"v": "8", "w": "9"},
		"_ZN3zoo4pickIsEET_S1_S1_b":                       {"a": "-5", "b": "6", "first": "0"},
		"_ZN3zoo7diamondEPNS_5RightE":                     {"r.right": "2"},
		"_ZN3zoo7nothingEDnDsi":                           {"wide": "119", "after": "-6"},
		"_ZN3zoo6memberEMNS_5PlainElMNS_6AnimalEFliRKfEi": {"after": "-8"},
		"wrapped": {"text._M_payload._M_engaged": "1", "either._M_index": "1", "after": "-9"},
		"_ZN3zoo3Pet5adoptERS0_OS0_NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEPPKNS_6AnimalE": {
			"who.id": "7", "other.weight": "3.25", "label._M_string_length": "5", "animals.1.id": "7", "animals.0.legs": "4"},
	}
	var places []string
	for name := range want {
		places = append(places, name)
	}
	for _, flags := range some(3, []string{"-O0", "-O2", "-O2 -gdwarf-4", "-O0 -m32", "-O2 -fdebug-types-section"}) {
		t.Run(strings.ReplaceAll(flags, " ", ""), func(t *testing.T) {
			if strings.Contains(flags, "-m32") {
				testenv.Require(t, testenv.M32, testenv.IA32)
			}
			p := build(t, "testdata/objects.cc", strings.Fields(flags)...)
			stops := map[uint64]*stop{}
			for _, s := range p.record(t, strings.Join(places, " "), "", 0) {
				stops[s.pc()] = s
			}
			for name, values := range want {
				s := stops[p.address(t, name)]
				if s == nil {
					t.Errorf("%s was not reached", name)
					continue
				}
				for path, value := range values {
					a, err := p.info.Access(s.pc(), strings.Split(path, "."))
					got := ""
					if err == nil {
						got, err = s.eval(a)
					}
					if got != value {
						t.Errorf("%s: %s is %q (%+v, %v), want %s", name, path, got, a, err, value)
					}
				}
			}
		})
	}
}
