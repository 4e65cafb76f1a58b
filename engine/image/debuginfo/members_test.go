package debuginfo_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"gotap/engine/image/debuginfo"
	"gotap/engine/image/debuginfo/ctype"
	"gotap/engine/testenv"
)

// membersAsked are the members that are asked for in the classes of members.cc.
var membersAsked = map[string]string{
	"two": "x a b c", "hides": "x a b", "once": "v h p q r", "twice": "v h p q r", "near_": "x a b", "below": "x a", "deep": "x a b z",
	"dominated": "v h q", "unions": "u f x b", "staticHides": "x a k", "staticToo": "x a k", "method": "x a", "same": "x a z", "holds": "val",
	"third": "x a b c d", "bits": "u k x",
}

// unlikeGDB are members that gdb 13 gets wrong: it fails with an internal error for those of unions without names, and
// does not see that a derived class hides a member of its virtual base. GCC and clang compile the uses of those with a
// value, and refuse the others as ambiguous.
var unlikeGDB = map[string]string{"inUnion.x": "31", "inUnion.a": "2", "bothUnions.u": "", "bothUnions.k": "7", "dominated.h": "16"}

// TestMembersOfBasesAgreeWithGDB asks for members that several base classes have. Both find one, or both none.
func TestMembersOfBasesAgreeWithGDB(t *testing.T) {
	testenv.Require(t, testenv.GXX, testenv.GDB, testenv.AMD64, testenv.Ptrace)
	var asked []string
	for of, names := range membersAsked {
		for _, name := range strings.Fields(names) {
			asked = append(asked, of+"->"+name)
		}
	}
	slices.Sort(asked)
	for _, flags := range some(3, []string{"-O2", "-O2 -gdwarf-4", "-O2 -fdebug-types-section", "-O2 -m32"}) {
		t.Run(strings.ReplaceAll(flags, " ", ""), func(t *testing.T) {
			if strings.Contains(flags, "-m32") {
				testenv.Require(t, testenv.M32, testenv.IA32)
			}
			p := build(t, "testdata/members.cc", strings.Fields(flags)...)
			s := p.record(t, "f", "f="+strings.Join(asked, ","), 0)[0]
			for _, e := range asked {
				path := strings.ReplaceAll(e, "->", ".")
				want := ""
				if v := s.Values[e]; v != nil {
					want = *v
				}
				if known, ok := unlikeGDB[path]; ok {
					want = known
				}
				p.compareMember(t, s, path, want)
			}
			for path, want := range unlikeGDB {
				p.compareMember(t, s, path, want)
			}
		})
	}
}

// compareMember wants a value, or for "" an error that names the base classes.
func (p *program) compareMember(t *testing.T, s *stop, path, want string) {
	t.Helper()
	a, err := p.info.Access(s.pc(), strings.Split(path, "."))
	got := ""
	if err == nil {
		got, err = s.eval(a)
	}
	var access *debuginfo.AccessError
	var static *ctype.NotInObjectError
	var two *ctype.AmbiguousError
	switch {
	case errors.As(err, &access) && strings.Contains(access.Reason, "virtual base class"), errors.As(err, &static):
		if want == "" {
			t.Errorf("%s: %v, gdb says that it is ambiguous", path, err)
		}
		return
	case !errors.As(err, &two) && want == "":
		t.Errorf("%s is %s (%v), gdb has none", path, got, err)
	case want != "" && (err != nil || !sameNumber(got, want)):
		t.Errorf("%s is %s (%v), gdb has %s", path, got, err, want)
	case two != nil:
		for _, full := range two.Full {
			of, _, _ := strings.Cut(path, ".")
			if a, err := p.info.Access(s.pc(), []string{of, full}); err != nil && !errors.As(err, &static) {
				t.Errorf("%s: the hint is %s, which is %+v, %v", path, full, a, err)
			}
		}
	}
}

// TestNamesOfMembers lists members so that each is there once, with its class where its name is not enough.
func TestNamesOfMembers(t *testing.T) {
	testenv.Require(t, testenv.GXX, testenv.GDB, testenv.AMD64, testenv.Ptrace)
	p := build(t, "testdata/members.cc", "-O0")
	s := p.record(t, "f", "", 0)[0]
	for of, want := range map[string]string{
		"two": "A::x a B::x b c", "hides": "A::x a B::x b x", "near_": "Hidden::A::x a Hidden::x B::x b", "below": "Hidden::A::x a x",
		"twice": "N1::v N1::h p N2::v N2::h q r", "unions": "u f x b", "inUnion": "A::x a x g", "bothUnions": "U1::u f U2::u k",
		"staticHides": "A::x a k", "staticToo": "k A::x a", "same": "P1::x P1::a P1::z P2::x P2::a P2::z", "holds": "Hold<int>::val Hold<char>::val",
		"third": "Two::A::x a Two::B::x b c d", "bits": "u U2::k S::k",
	} {
		a, err := p.info.Access(s.pc(), []string{of})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(a.Shape.Members, " "); got != want {
			t.Errorf("%s has %s, want %s", of, got, want)
		}
		for _, name := range a.Shape.Members {
			if a, err := p.info.Access(s.pc(), []string{of, name}); err != nil {
				t.Errorf("%s of %s: %+v, %v", name, of, a, err)
			}
		}
	}
}
