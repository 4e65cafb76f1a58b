package debuginfo_test

import (
	"strings"
	"sync"
	"testing"

	"gotap/engine/testenv"
)

// TestManyAskAtOnce asks one Info everything from several goroutines at once, and wants the same answers from it each
// time.
func TestManyAskAtOnce(t *testing.T) {
	testenv.Require(t, testenv.GCC)
	p := build(t, "testdata/values.c", "-O2")
	entry := p.address(t, "walk")
	start := make(chan struct{})
	var done sync.WaitGroup
	for range 8 {
		done.Add(1)
		go func() {
			defer done.Done()
			<-start
			for range 20 {
				sig, err := p.info.Signature(entry)
				if err != nil || sig != "walk(struct item *p, int by) long" {
					t.Errorf("signature %q, %v", sig, err)
				}
				if a, err := p.info.Access(entry, strings.Split("p.next.weight", ".")); err != nil || len(a.Steps) != 3 {
					t.Errorf("access %+v, %v", a, err)
				}
				if _, err := p.info.FramesAt(entry + 20); err != nil {
					t.Error(err)
				}
				if addrs, _, err := p.info.AddrsOf("values.c", 46); err != nil || len(addrs) == 0 {
					t.Errorf("line at %#x, %v", addrs, err)
				}
			}
		}()
	}
	close(start)
	done.Wait()
}

// BenchmarkAccess resolves a path at a function's entry, as registering a probe does for each mention of an argument.
func BenchmarkAccess(b *testing.B) {
	testenv.Require(b, testenv.GCC)
	p := build(b, "testdata/values.c", "-O2")
	symbols, err := p.elf.Symbols()
	if err != nil {
		b.Fatal(err)
	}
	entry := uint64(0)
	for _, s := range symbols {
		if s.Name == "walk" {
			entry = s.Value
		}
	}
	path := strings.Split("p.next.in.near.1", ".")
	for b.Loop() {
		if _, err := p.info.Access(entry, path); err != nil {
			b.Fatal(err)
		}
	}
}
