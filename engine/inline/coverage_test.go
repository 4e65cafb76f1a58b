package inline_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gotap/arch"
	"gotap/engine/image/goabi"
	"gotap/engine/image/module"
	"gotap/engine/image/symtab"
	"gotap/engine/inline"
)

// bodies are the programs whose sites are counted. Quick runs use the first, GOTAP_LONG=1 all; what is not there is
// skipped.
var bodies = []string{
	"/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/x86_64-linux-gnu/libcrypto.so.3", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
	"/usr/lib/x86_64-linux-gnu/libsqlite3.so.0", "/usr/bin/python3.*[0-9]", "/usr/local/go/bin/go",
}

// TestSiteCoverage lists the share of entries, returns and instructions where a jump can be written, and why it cannot
// be at the others. The tables in docs/performance.md are what it prints: GOTAP_LONG=1 go test ./engine/inline -run
// TestSiteCoverage -v
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
		c := coverageOf(f)
		f.Close()
		t.Logf("| %s | %d | %.1f %% | %.1f %% | %.1f %% | %.1f %% |\n%s", filepath.Base(files[0]), c.entries.all, c.entries.percent(), c.returns.percent(), c.functions.percent(), c.insns.percent(), c.reasons())
		if !f.IsGo() && (c.entries.all < 1000 || c.entries.percent() < 98 || c.returns.percent() < 91 || c.insns.percent() < 84) {
			t.Error("fewer places than ever")
		}
	}
}

// coverage is how many places of a file can have jumps.
type coverage struct {
	entries, returns, functions, insns share
}

// coverageOf counts the places of a file. Of the instructions it takes every seventh.
func coverageOf(f *module.File) *coverage {
	c := &coverage{}
	for i := range f.Funcs() {
		fn := &f.Funcs()[i]
		code, err := f.Code(fn.Addr, int(fn.Size))
		if fn.Kind != symtab.KindFunc || fn.Name == "" || fn.Size == 0 || err != nil || !f.IsText(fn.Addr) {
			continue
		}
		c.entries.add(sited(f, plantedAt(f, fn, code), false))
		ends, refused, n := 0, error(nil), 0
		arch.Sweep(inline.Windows, code, fn.Addr, func(in arch.Insn) error {
			if in.Control == arch.Return {
				err := sited(f, in.Addr, true)
				c.returns.add(err)
				refused, ends = errors.Join(refused, err), ends+1
			}
			if n++; n%7 == 0 {
				c.insns.add(sited(f, in.Addr, false))
			}
			return nil
		})
		if ends > 0 {
			c.functions.add(refused)
		}
	}
	return c
}

// reasons lists why places have no jump, the most frequent first.
func (c *coverage) reasons() string {
	var text strings.Builder
	for _, s := range []struct {
		name string
		of   *share
	}{{"entries", &c.entries}, {"returns", &c.returns}, {"instructions", &c.insns}} {
		kinds := slices.SortedFunc(maps.Keys(s.of.why), func(a, b string) int { return s.of.why[b] - s.of.why[a] })
		for _, why := range kinds[:min(len(kinds), 8)] {
			fmt.Fprintf(&text, "    %s: %6d %5.2f %%  %s\n", s.name, s.of.why[why], 100*float64(s.of.why[why])/float64(s.of.all), why)
		}
	}
	return text.String()
}

// share is how many of all have something.
type share struct {
	some, all int
	why       map[string]int // the others, by what they lack
}

func (s *share) add(err error) {
	s.all++
	if err == nil {
		s.some++
		return
	}
	if s.why == nil {
		s.why = map[string]int{}
	}
	s.why[kindOf(err)]++
}

func (s *share) percent() float64 { return 100 * float64(s.some) / float64(max(s.all, 1)) }

var (
	addresses = regexp.MustCompile(`0x[0-9a-f]+`)
	ordinals  = regexp.MustCompile(`the (first|second|third|fourth|fifth) instruction`)
	counts    = regexp.MustCompile(`[0-9]+ bytes?`)
	starts    = regexp.MustCompile(`^\S+ begins in`)
)

// kindOf returns the reason of an error without what differs from place to place.
func kindOf(err error) string {
	text := err.Error()
	if refused := (*arch.WindowError)(nil); errors.As(err, &refused) {
		text = refused.Reason
	}
	text, _, _ = strings.Cut(text, "\n")
	text = ordinals.ReplaceAllString(addresses.ReplaceAllString(text, "ADDR"), "an instruction")
	return starts.ReplaceAllString(counts.ReplaceAllString(text, "N bytes"), "a function begins in")
}

func sited(f *module.File, vaddr uint64, around bool) error {
	_, err := inline.SiteOf(f, vaddr, around)
	return err
}

// plantedAt returns where a probe at the entry of a function is placed.
func plantedAt(f *module.File, fn *symtab.Func, code []byte) uint64 {
	if f.IsGo() {
		if behind, ok := goabi.Of(f.Machine).BehindCheck(code, fn.Addr); ok {
			return behind
		}
	}
	return fn.Addr
}
