package inline_test

import (
	"os"
	"path/filepath"
	"testing"

	"gotap/arch"
	"gotap/engine/image/goabi"
	"gotap/engine/image/module"
	"gotap/engine/inline"
)

// bodies are the programs whose sites are counted. Quick runs use the first, GOTAP_LONG=1 all; what is not there is skipped.
var bodies = []string{
	"/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/x86_64-linux-gnu/libcrypto.so.3", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
	"/usr/lib/x86_64-linux-gnu/libsqlite3.so.0", "/usr/bin/python3.*[0-9]", "/usr/local/go/bin/go",
}

// TestSiteCoverage lists the share of entries, returns and instructions where a jump can be written. The table in docs/performance.md is
// what it prints: GOTAP_LONG=1 go test ./engine/inline -run TestSiteCoverage -v
func TestSiteCoverage(t *testing.T) {
	if os.Getenv("GOTAP_LONG") == "" {
		bodies = bodies[:1]
	}
	for _, pattern := range bodies {
		files, _ := filepath.Glob(pattern)
		if len(files) == 0 {
			continue
		}
		f, err := module.Open(files[0])
		if err != nil {
			t.Fatal(err)
		}
		var entries, returns, functions, insns share
		for i := range f.Funcs() {
			fn := &f.Funcs()[i]
			code, err := f.Code(fn.Addr, int(fn.Size))
			if fn.Kind != module.KindFunc || fn.Name == "" || fn.Size == 0 || err != nil || !f.IsText(fn.Addr) {
				continue
			}
			entries.add(sited(f, plantedAt(f, fn, code), false))
			ends, all, n := 0, true, 0
			arch.Sweep(inline.Windows, code, fn.Addr, func(in arch.Insn) error {
				if in.Control == arch.Return {
					ok := sited(f, in.Addr, true)
					returns.add(ok)
					all, ends = all && ok, ends+1
				}
				if n++; n%7 == 0 {
					insns.add(sited(f, in.Addr, false))
				}
				return nil
			})
			if ends > 0 {
				functions.add(all)
			}
		}
		f.Close()
		t.Logf("| %s | %d | %.1f %% | %.1f %% | %.1f %% | %.1f %% |", filepath.Base(files[0]), entries.all, entries.percent(), returns.percent(), functions.percent(), insns.percent())
		if !f.IsGo() && (entries.all < 1000 || entries.percent() < 97 || returns.percent() < 80 || insns.percent() < 70) {
			t.Error("fewer places than ever")
		}
	}
}

// share is how many of all have something.
type share struct{ some, all int }

func (s *share) add(has bool) {
	if s.all++; has {
		s.some++
	}
}

func (s *share) percent() float64 { return 100 * float64(s.some) / float64(max(s.all, 1)) }

func sited(f *module.File, vaddr uint64, around bool) bool {
	_, err := inline.SiteOf(f, vaddr, around)
	return err == nil
}

// plantedAt returns where a probe at the entry of a function is placed.
func plantedAt(f *module.File, fn *module.Func, code []byte) uint64 {
	if f.IsGo() {
		if behind, ok := goabi.Of(f.Machine).BehindCheck(code, fn.Addr); ok {
			return behind
		}
	}
	return fn.Addr
}
