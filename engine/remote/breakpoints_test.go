package remote

import (
	"bytes"
	"testing"

	"gotap/engine/executor"
	"gotap/engine/remote/register"
	"gotap/engine/remote/rsp"
)

// pointsOf returns the breakpoints of a target with points at addresses, of which the listed ones are planted.
func pointsOf(architecture string, all []uint64, set ...uint64) *breakpoints {
	b := &breakpoints{stub: &stub{isa: register.Named(architecture)}, points: map[uint64]*point{}}
	for _, addr := range all {
		b.points[addr] = &point{of: b, Spot: executor.Spot{Addr: addr, Orig: []byte{byte(addr)}}}
	}
	for _, addr := range set {
		b.points[addr].Planted = true
	}
	return b
}

// TestWhichPointWasHit: stubs show the program counter at a breakpoint or behind it; the first clear case shows which.
func TestWhichPointWasHit(t *testing.T) {
	trap, corrected := rsp.Stop{Signal: rsp.SignalTrap}, rsp.Stop{Signal: rsp.SignalTrap, Reason: "swbreak"}
	for _, c := range []struct {
		name         string
		architecture string
		all, set     []uint64
		patch        bool
		behind       bool // known before
		stop         rsp.Stop
		pc, want     uint64 // want: 0 if none
		then         bool   // known afterwards
	}{
		{"nothing there", "i386", []uint64{10}, []uint64{10}, false, false, trap, 30, 0, false},
		{"at it", "i386", []uint64{10}, []uint64{10}, false, false, trap, 10, 10, false},
		{"behind it", "i386", []uint64{10}, []uint64{10}, false, false, trap, 11, 10, true},
		{"neighbours, at it", "i386", []uint64{10, 11}, []uint64{10, 11}, false, false, trap, 11, 11, false},
		{"neighbours, behind it", "i386", []uint64{10, 11}, []uint64{10, 11}, false, true, trap, 11, 10, true},
		{"corrected by the stub", "i386", []uint64{10, 11}, []uint64{10, 11}, false, true, corrected, 11, 11, true},
		{"ours", "i386", []uint64{10, 11}, []uint64{10, 11}, true, false, trap, 11, 10, true},
		{"removed meanwhile, at it", "i386", []uint64{10}, nil, false, false, trap, 10, 0, false},
		{"removed meanwhile, behind it", "i386", []uint64{10}, nil, false, true, trap, 11, 10, true},
		{"never behind it", "aarch64", []uint64{12, 16}, []uint64{12, 16}, true, false, trap, 16, 16, false},
	} {
		b := pointsOf(c.architecture, c.all, c.set...)
		b.patch, b.behind = c.patch, c.behind
		var got uint64
		if p := b.hit(c.stop, c.pc); p != nil {
			got = p.Addr
		}
		if got != c.want || b.behind != c.then {
			t.Errorf("%s: %d, not %d; the stub shows the address behind: %v", c.name, got, c.want, b.behind)
		}
	}
}

// TestHidden: what our own breakpoints displace is restored in what is read, also at its edges; the stub hides its own.
func TestHidden(t *testing.T) {
	for _, patch := range []bool{false, true} {
		for size := range 8 { // with fewer points than bytes, and with more
			b := pointsOf("i386", []uint64{99, 100, 102, 107}, 100, 102, 107)
			b.patch = patch
			read := bytes.Repeat([]byte{0xcc}, size)
			b.hide(100, read)
			want := bytes.Repeat([]byte{0xcc}, size)
			for _, at := range []uint64{100, 102, 107} {
				if i := at - 100; patch && i < uint64(size) {
					want[i] = byte(at)
				}
			}
			if !bytes.Equal(read, want) {
				t.Errorf("%d bytes, written by us: %v: %x, not %x", size, patch, read, want)
			}
		}
	}
	b := pointsOf("i386", []uint64{100, 104}, 100)
	for addr, want := range map[uint64]bool{97: false, 98: true, 100: true, 101: false, 103: false} {
		if got := b.overlap(addr, 3); got != want {
			t.Errorf("three bytes at %d overlap a breakpoint: %v", addr, got)
		}
	}
}
