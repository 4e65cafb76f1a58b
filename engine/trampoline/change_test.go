package trampoline

import (
	"testing"

	"gotap/arch"
	"gotap/engine/inline"
	"gotap/engine/registry"
	"gotap/engine/space"
	"gotap/runtime"
	"gotap/runtime/opcode"
)

// TestFitsChanges: only a record that was written before a register changes could be of an instruction that faults for
// the change, if it can fault at all.
func TestFitsChanges(t *testing.T) {
	code := func(op opcode.Op) *registry.Placement {
		c := &runtime.Code{Insts: []runtime.Inst{{Op: op}}}
		c.Needs = runtime.NeedsOf(c)
		return &registry.Placement{Code: registry.Handlers{Enter: c}}
	}
	logs, sets, stores := code(opcode.LogInt), code(opcode.PopR), code(opcode.Store8)
	if !writesRecord(logs.Code.Enter) || writesRecord(sets.Code.Enter) {
		t.Fatal("who writes records is not known")
	}
	faults := &space.Room{}
	faults.Window.Operand = new(arch.MemOperand)
	for _, c := range []struct {
		what   string
		room   *space.Room
		enters []*registry.Placement
		fits   bool
	}{
		{"record, register", faults, []*registry.Placement{logs, sets}, false},
		{"record, memory, register", faults, []*registry.Placement{logs, stores, sets}, false},
		{"record, register, no fault", &space.Room{}, []*registry.Placement{logs, sets}, true},
		{"register, record", faults, []*registry.Placement{sets, logs}, true},
		{"record, memory", faults, []*registry.Placement{logs, stores}, true},
		{"register", faults, []*registry.Placement{sets}, true},
	} {
		p := &space.Point{}
		p.Enters = c.enters
		if err := fitsChanges(p, c.room); (err == nil) != c.fits {
			t.Errorf("%s: %v", c.what, err)
		}
	}
}

// TestMaps: programs must not write into islands, nor into the arena that stubs use.
func TestMaps(t *testing.T) {
	n := &spaceCode{}
	n.jumps.islands = []*inline.Island{{Base: 0x100000, Arena: 0x10000000, ArenaSize: 0x1000}}
	for _, c := range []struct {
		addr uint64
		n    int
		ours bool
	}{
		{0xffff8, 8, false}, {0xffff9, 8, true}, {0x100000, 1, true}, {0x100000 + inline.IslandSize - 1, 1, true}, {0x100000 + inline.IslandSize, 8, false},
		{0xffffffc, 4, false}, {0xffffffd, 4, true}, {0x10000fff, 1, true}, {0x10001000, 1, false},
	} {
		if got := n.Maps(c.addr, c.n); got != c.ours {
			t.Errorf("%d bytes at %#x: %v", c.n, c.addr, got)
		}
	}
}
