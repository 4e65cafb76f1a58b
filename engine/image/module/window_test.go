package module

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"gotap/arch"
	"gotap/engine/image/symtab"
	"gotap/engine/testenv"
)

const replaced = " the bytes that the jump would replace"

// entryWindows says of functions of windows.c why their entry has no window; "" where it has one.
var entryWindows = map[string]string{
	"plain":       "",
	"single":      "",
	"landing":     "",
	"branched":    "the branch at ADDR leads into" + replaced,
	"skipped":     "the branch at ADDR leads into" + replaced,
	"called":      "a branch of another function leads into" + replaced,
	"pointed":     "a pointer or jump table leads into" + replaced,
	"begun":       "inner begins in" + replaced,
	"in_sequence": "it is in the restartable sequence at ADDR",
	"bare_return": "",
	"full":        "the second instruction does not continue, and what follows it is not padding",
	"falls":       "the function ends after 2 bytes",
	"follows":     "",
	"asks":        "",
	"unclear":     "",
	"lost":        "",
	"undecoded":   "",
	"label":       "",
	"piece.cold":  "",
}

// returnWindows says the same of the last return of functions, and returnIndex where it is in its window.
var returnWindows = map[string]string{
	"returns":     "",
	"bare_return": "",
	"plain":       "",
	"switched":    "",
	"joined":      "the first instruction does not continue, and what follows it is not padding",
	"unclear":     "the first instruction does not continue, and what follows it is not padding",
	"tabled":      "the first instruction does not continue, and what follows it is not padding",
	"lost":        "the first instruction does not continue, and what follows it is not padding",
	"undecoded":   "the first instruction does not continue, and what follows it is not padding",
}

// windowsOf builds windows.c, position-independent and not.
func windowsOf(t *testing.T, check func(t *testing.T, f *File)) {
	testenv.Require(t, testenv.GCC, testenv.AMD64)
	for name, flags := range map[string][]string{
		"pie":    {"-pie", "-fpie"},
		"fixed":  {"-no-pie", "-fno-pie"},
		"packed": {"-pie", "-fpie", "-Wl,-z,pack-relative-relocs"},
	} {
		t.Run(name, func(t *testing.T) {
			check(t, open(t, build(t, "gcc", append(flags, "-O1", "windows.c")...)))
		})
	}
}

// at returns the address of a function.
func at(t *testing.T, f *File, name string) *symtab.Func {
	t.Helper()
	for _, m := range f.Lookup(name) {
		return m.Func
	}
	t.Fatalf("no function %s", name)
	return nil
}

// sameReason compares an error's reason, in which ADDR stands for any address.
func sameReason(err error, want string) bool {
	refused := (*arch.WindowError)(nil)
	if want == "" || !errors.As(err, &refused) {
		return want == "" && err == nil
	}
	before, after, _ := strings.Cut(want, "ADDR")
	return strings.HasPrefix(refused.Reason, before) && strings.HasSuffix(refused.Reason, after)
}

func TestWindowAtEntry(t *testing.T) {
	windowsOf(t, func(t *testing.T, f *File) {
		for name, want := range entryWindows {
			w, err := f.Windows(jumps).At(at(t, f, name).Addr)
			if !sameReason(err, want) {
				t.Errorf("%s: %v, want %q", name, err, want)
			}
			if entry := name != "label" && name != "piece.cold"; err == nil && w.RedZoneFree != entry {
				t.Errorf("%s: the red zone is free: %v", name, w.RedZoneFree)
			}
		}
	})
}

func TestWindowAroundReturn(t *testing.T) {
	windowsOf(t, func(t *testing.T, f *File) {
		for name, want := range returnWindows {
			addr := lastReturn(t, f, at(t, f, name))
			w, i, err := f.Windows(jumps).Around(addr)
			if !sameReason(err, want) {
				t.Errorf("%s: %v, want %q", name, err, want)
			}
			if err == nil && w.Insns[i].Addr != addr {
				t.Errorf("%s: instruction %d of %+v is not that at %#x", name, i, w, addr)
			}
		}
	})
}

// lastReturn returns the address of the last return of a function, as far as it can be decoded.
func lastReturn(t *testing.T, f *File, fn *symtab.Func) (addr uint64) {
	t.Helper()
	code, err := f.Code(fn.Addr, int(fn.Size))
	if err != nil {
		t.Fatal(err)
	}
	arch.Sweep(jumps, code, fn.Addr, func(in arch.Insn) error {
		if in.Control == arch.Return {
			addr = in.Addr
		}
		return nil
	})
	return addr
}

// TestWindowInside checks windows behind the entry of a function, by their offset.
func TestWindowInside(t *testing.T) {
	const unclear = "an indirect jump of the function may lead into" + replaced
	windowsOf(t, func(t *testing.T, f *File) {
		for _, c := range []struct {
			name   string
			offset uint64
			want   string
		}{
			{"returns", 2, ""},
			{"bare_return", 1, "no function is known there"},
			{"unclear", 5, unclear},
			{"lost", 17, "the function has a jump table that may lead into" + replaced},
			{"switched", 21, "the branch at ADDR leads into" + replaced},
			{"switched", 23, ""},
			{"tabled", 5, ""}, // one instruction
			{"tabled", 23, "a pointer or jump table leads into" + replaced},
			{"computed", 13, unclear},
			{"computed", 7, unclear},
			{"undecoded", 2, "not all of the function can be decoded"},
			{"joined", 4, "the branch at ADDR leads into" + replaced},
		} {
			addr := at(t, f, c.name).Addr + c.offset
			if w, err := f.Windows(jumps).At(addr); !sameReason(err, c.want) {
				t.Errorf("%s+%d: %+v, %v, want %q", c.name, c.offset, w, err, c.want)
			}
		}
	})
}

// TestWindowOfTargets checks what does not come from code: exceptions, and code that was not searched.
func TestWindowOfTargets(t *testing.T) {
	testenv.Require(t, testenv.GCC, testenv.AMD64)
	path := build(t, "gcc", "-O1", "windows.c")
	for want, change := range map[string]func(t *Targets, addr uint64){
		"exceptions are handled in" + replaced: func(t *Targets, addr uint64) { t.pads = []uint64{addr + 4} },
		"the code was not searched":            func(t *Targets, _ uint64) { t.err = errors.New("the code was not searched") },
		"":                                     func(t *Targets, addr uint64) { t.pads = []uint64{addr, addr + 5} },
	} {
		f := open(t, path)
		addr := at(t, f, "plain").Addr
		change(f.Windows(jumps).Targets(), addr)
		if w, err := f.Windows(jumps).At(addr); !sameReason(err, want) {
			t.Errorf("%+v, %v, want %q", w, err, want)
		}
	}
}

// TestWindowsTogether asks for windows from several goroutines at once, on fewer processors.
func TestWindowsTogether(t *testing.T) {
	testenv.Require(t, testenv.GCC, testenv.AMD64)
	f := open(t, build(t, "gcc", "-O1", "windows.c"))
	start, done := make(chan bool), sync.WaitGroup{}
	for n := range 8 {
		done.Go(func() {
			<-start
			for i := range f.Funcs() {
				fn := &f.Funcs()[(i*7+n)%len(f.Funcs())]
				f.Windows(jumps).At(fn.Addr)
				f.Windows(jumps).Around(fn.End() - 1)
			}
		})
	}
	close(start)
	done.Wait()
}
