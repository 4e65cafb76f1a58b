package amd64

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"
	"syscall"
	"testing"

	"gotap/runtime/calls"
	"gotap/runtime/gate"
	"gotap/runtime/native"
	"gotap/runtime/native/amd64/asm"
	"gotap/runtime/object"
	"gotap/runtime/opcode"
)

// countsOf returns a program that counts and adds up what is in rbx, and the IDs of its objects.
func (w *world) countsOf() (p *native.Plan, count, sum int) {
	left := opV(opcode.PushR, uint64(fileIndex[asm.RBX])<<16)
	countAt, count := w.object(object.Object{Kind: object.KindCount})
	sumAt, sum := w.object(object.Object{Kind: object.KindSum})
	histAt, _ := w.object(object.Object{Kind: object.KindHist})
	return w.plan(push(1), opV(opcode.Agg, countAt), left, opV(opcode.Agg, sumAt), left, opV(opcode.Agg, histAt), op(opcode.Exit)), count, sum
}

// TestWithoutShare: a thread that has no share counts in the shared words and rings no doorbell. One such thread is
// unknown to native code; of the other, thread-local data cannot be read.
func TestWithoutShare(t *testing.T) {
	for _, selfAddressed := range []bool{false, true} {
		w := newWorld(t)
		p, count, sum := w.countsOf()
		g := w.arena.NewGate(gate.Limits{})
		w.sites = 0
		if selfAddressed {
			w.sites = 1
		}
		stub := w.place(w.c, []native.Program{{Run: p, Gate: g}}, Site{Addr: codeAddr})
		if len(stub.Doorbells) > 0 {
			t.Errorf("doorbells: %+v", stub.Doorbells)
		}
		hit := func(base uint64) {
			regs := w.c.ready
			regs[fileFS], regs[fileRIP], regs[fileRSP], regs[fileIndex[asm.RBX]] = base, codeAddr, stackAddr+stackSize/2, 5
			want := regs
			w.c.do(func() {
				if sig := w.c.run(&regs); sig == syscall.SIGSEGV && base == 0 && selfAddressed {
					f := stub.ReadAt(int(regs[fileRIP] - codeAddr))
					if f == nil || !f.Passes || !f.Own {
						t.Fatalf("it faults at %#x", regs[fileRIP])
					}
					Ring(f, codeAddr, regs[:])
					w.c.run(&regs)
				}
			})
			if err := sameRegs(&regs, &want, false); err != nil || regs[fileRIP] != codeAddr+uint64(stub.Tail)+1 {
				t.Errorf("base %#x: %v, at %#x", base, err, regs[fileRIP])
			}
		}
		for n, base := range []uint64{ownData, ownData + 8, 0, ownData} {
			hit(base)
			if got, total, hits := w.counted(count), w.counted(sum), g.Hits(); got != int64(n)+1 || total != 5*got || hits != uint64(got) {
				t.Errorf("after hit %d: %d counted, %d in all, %d hits", n+1, got, total, hits)
			}
		}
	}
}

// TestSpoiledShares: whatever is in the table of owners, native code writes into blocks only.
func TestSpoiledShares(t *testing.T) {
	w := newWorld(t)
	p, count, _ := w.countsOf()
	w.sites = 0
	stub := w.place(w.c, []native.Program{{Run: p}}, Site{Addr: codeAddr})
	table := w.memory[w.owners.Offset():][:(calls.Slots+calls.Probes)*calls.SlotSize]
	before := slices.Clone(w.memory[w.from:w.arena.Used()])
	for _, number := range []uint64{255, 256, 1 << 16, 1<<64 - 1, 1 << 63} {
		for at := 0; at < len(table); at += calls.SlotSize {
			binary.LittleEndian.PutUint64(table[at+calls.StackAt:], number)
		}
		if d := w.ring(codeAddr, stub, stackAddr+stackSize/2, 0); d != nil {
			t.Errorf("number %#x rings", number)
		}
	}
	if !bytes.Equal(w.memory[w.from:w.arena.Used()], before) {
		t.Error("something else has changed")
	}
	if n := w.counted(count); n > 5 {
		t.Errorf("%d counted", n)
	}
}

// TestTakesOfShares: two threads count in their shares, and one without a share beside them, while the host takes,
// reads and clears nothing of its own. Every addition is taken once, and what is read never falls between two takes.
func TestTakesOfShares(t *testing.T) {
	for sites := range 2 { // see world.site: own data are read, or their address is asked for
		takesOfShares(t, sites)
	}
}

func takesOfShares(t *testing.T, sites int) {
	w := newWorld(t)
	second, third := w.other(ownData+0x100), w.other(ownData+0x200)
	w.owners.Remove(ownData + 0x200)
	p, count, sum := w.countsOf()
	g := w.arena.NewGate(gate.Limits{})
	const times = 300_000
	done := make(chan error, 3)
	w.setBarrier(3)
	for _, c := range []*tracee{w.c, second, third} {
		w.sites = sites
		w.hammer(c, []native.Program{{Run: p, Gate: g}}, times, done)
	}
	var taken, total int64
	var hits uint64
	stop := make(chan struct{})
	var wg sync.WaitGroup
	errs := make(chan error, 1)
	wg.Go(func() { // another goroutine reads at the same time
		for {
			select {
			case <-stop:
				return
			default:
			}
			if now := g.Hits(); now < hits {
				errs <- fmt.Errorf("%d hits after %d", now, hits)
				return
			} else {
				hits = now
			}
		}
	})
	take := func() {
		for _, e := range w.arena.Handle(count).Take().Entries {
			taken += e.Data.Count
		}
		before := w.counted(sum)
		if now := w.counted(sum); now < before {
			t.Errorf("the sum is %d after %d", now, before)
		}
		for _, e := range w.arena.Handle(sum).Take().Entries {
			total += e.Data.Sum
		}
	}
	for running := 3; running > 0; {
		select {
		case err := <-done:
			if running--; err != nil {
				t.Fatal(err)
			}
		default:
			take()
		}
	}
	close(stop)
	wg.Wait()
	select {
	case err := <-errs:
		t.Error(err)
	default:
	}
	take()
	if taken != 3*times || total != 3*times*(times+1)/2 || g.Hits() != 3*times {
		t.Errorf("%d taken, %d in all, %d hits", taken, total, g.Hits())
	}
}

// TestEntryCounts: the entry of a call counts in the gate whether native code records the call or rings.
func TestEntryCounts(t *testing.T) {
	w := newWorld(t)
	g := w.arena.NewGate(gate.Limits{})
	w.sites = 1 // see world.site: own data are read
	stub := w.callAt(codeAddr, native.Call{Func: 5}, g, op(opcode.Exit))
	const sp = stackAddr + stackSize/2
	if d := w.ring(codeAddr, stub, sp, 0); d != nil || g.Hits() != 1 {
		t.Errorf("%+v, %d hits", d, g.Hits())
	}
	w.c.ready[fileFS] = ownData + 8
	if d := w.ring(codeAddr, stub, sp, 0); d == nil || d.Call != native.EntersCall || g.Hits() != 2 {
		t.Errorf("%+v, %d hits", d, g.Hits())
	}
	regs := w.c.ready
	regs[fileFS], regs[fileRIP], regs[fileRSP] = 0, codeAddr, sp
	w.c.do(func() {
		w.c.run(&regs)
		if f := stub.ReadAt(int(regs[fileRIP] - codeAddr)); f != nil && f.Passes {
			Ring(f, codeAddr, regs[:])
			w.c.run(&regs)
		}
	})
	if d := stub.DoorbellAt(int(regs[fileRIP]-codeAddr) - 1); d == nil || d.Call != native.EntersCall || g.Hits() != 3 {
		t.Errorf("without data: %+v, %d hits", d, g.Hits())
	}
}

// TestRejectedInShares: two threads count what a predicate rejects in their shares, and one that has none beside them.
func TestRejectedInShares(t *testing.T) {
	for sites := range 2 { // see world.site
		w := newWorld(t)
		second, third := w.other(ownData+0x100), w.other(ownData+0x200)
		w.owners.Remove(ownData + 0x200)
		p, count, _ := w.countsOf()
		when := w.plan(opV(opcode.PushR, uint64(fileIndex[asm.RBX])<<16), push(3), op(opcode.And), opA(opcode.Jnz, 5), op(opcode.Abort), op(opcode.Exit))
		g := w.arena.NewGate(gate.Limits{})
		const times = 200_000
		done := make(chan error, 3)
		w.setBarrier(3)
		for _, c := range []*tracee{w.c, second, third} {
			w.sites = sites
			w.hammer(c, []native.Program{{Run: p, When: when, Gate: g}}, times, done)
		}
		for range 3 {
			if err := <-done; err != nil {
				t.Fatal(err)
			}
		}
		if n := w.counted(count); g.Rejected() != 3*times/4 || g.Hits() != 3*times*3/4 || n != 3*times*3/4 {
			t.Errorf("%d rejected, %d hits, %d counted", g.Rejected(), g.Hits(), n)
		}
	}
}
