package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"gotap/engine/image/module"
	"gotap/engine/place"
	"gotap/engine/testenv"
)

// TestExcluded names places outright that are not for probes, and has a pattern mean one.
func TestExcluded(t *testing.T) {
	testenv.Require(t, testenv.AMD64)
	p := start(t, program(t, "target.c"), "spin", "1")
	before := text(t, p.pid())
	w := newWorld(t, Config{Follow: FollowThreads, Engine: Step})
	if err := w.Attach(p.pid()); err != nil {
		t.Fatal(err)
	}
	w.Start()
	n := w.counter()
	w.probe("work+*", Handlers{Enter: w.counts(n)})
	eventually(t, "hits", func() bool { return n.get() > 0 })
	var slots, guard, stack, vdso uint64
	var inSlots func(addr uint64) bool
	w.do(func() error {
		sp := w.procs[p.pid()].space
		guard, inSlots = sp.Guard.Base, sp.HasSlots
		return nil
	})
	maps, err := module.Maps(p.pid())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range maps {
		if inSlots(m.Start) {
			slots = m.Start
		}
		switch m.Path {
		case "[stack]":
			stack = m.Start
		case "[vdso]":
			vdso = m.Start
		}
	}
	points := w.Stats().Points
	for _, c := range []struct{ spec, why string }{
		{fmt.Sprintf("%#x", vdso+0x100), "vdso"}, {"linux-vdso.so.1:__vdso_time", "vdso"}, {"[vdso]:*", "vdso"},
		{fmt.Sprintf("%#x", guard+fallback0), "gotap's own: the handler"}, {fmt.Sprintf("%#x", slots+4), "gotap's own: copies"},
		{fmt.Sprintf("%#x", stack), "no program file"}, {"0x10", "no module is mapped"},
	} {
		_, err := w.tryProbe(c.spec, Handlers{Enter: w.counts(n)})
		var refused *place.RefusedError
		if !errors.As(err, &refused) || !strings.Contains(refused.Reason, c.why) || refused.Help == "" {
			t.Errorf("%s: %v", c.spec, err)
		}
	}
	// Code is code, whatever the address of a process: the middle of an instruction is told like that of a named
	// function.
	var work uint64
	w.do(func() error {
		main := w.procs[p.pid()].space.Modules[0]
		work = main.Addr(main.File.Lookup("work")[0].Func.Addr)
		return nil
	})
	var offset *place.OffsetError
	if _, err := w.tryProbe(fmt.Sprintf("%#x", work+1), Handlers{Enter: w.counts(n)}); !errors.As(err, &offset) {
		t.Errorf("the middle of an instruction: %v", err)
	}
	if hasVsyscall(maps) {
		if _, err := w.tryProbe("0xffffffffff600000", Handlers{Enter: w.counts(n)}); err == nil || !strings.Contains(err.Error(), "vsyscall") {
			t.Errorf("vsyscall: %v", err)
		}
	}
	want(t, "points after what was refused", w.Stats().Points, points)
	id := w.probe("*:getpi*", Handlers{Enter: w.counts(n)})
	if out := w.stateOf(id).Refused; !slices.ContainsFunc(out, func(s string) bool { return strings.Contains(s, "vdso") }) {
		t.Errorf("left out: %q", out)
	}
	w.Close(false)
	untouched(t, p.pid(), before)
	want(t, "target", p.end(), "spin bad=0")
}

// fallback0 is some way into the fallback's code.
const fallback0 = 0x120

func hasVsyscall(maps []module.Mapping) bool {
	return slices.ContainsFunc(maps, func(m module.Mapping) bool { return m.Path == "[vsyscall]" })
}

// TestAllOrNothing registers probes of several places of which a later one cannot be.
func TestAllOrNothing(t *testing.T) {
	for _, bad := range []string{"nothere", "work+1", "0x10", "watch:nope/8/w", "syscall:nope"} {
		w := newWorld(t, Config{Follow: FollowThreads})
		tg := w.launch(program(t, "target.c"), "work", "10")
		before, n := w.Stats().Points, w.counter()
		_, err := w.tryProbe("work", Handlers{Enter: w.counts(n)}, func(p *ProbeSpec) {
			for _, text := range []string{"fact", "copy+*", bad} {
				spec, err := place.Parse(text)
				if err != nil {
					t.Fatal(err)
				}
				p.Specs = append(p.Specs, spec)
			}
		})
		if err == nil || len(w.Query()) != 0 || w.Stats().Points != before {
			t.Errorf("%s: %v; %d probes, %d points", bad, err, len(w.Query()), w.Stats().Points)
		}
		w.run()
		want(t, "hits with "+bad, n.get(), 0)
		want(t, "output", tg.output(), "work bad=0\n")
	}
}
