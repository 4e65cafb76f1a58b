package goabi

import (
	"debug/elf"
	"testing"

	"gotap/arch"
)

// everywhere is memory that can be read at any address, 0 too.
type everywhere uint64

func (m everywhere) Pointer(uint64) (uint64, bool) { return uint64(m), true }

// TestNoGoroutineAtZero: a register of 0 is no goroutine, even where a machine has memory at that address.
func TestNoGoroutineAtZero(t *testing.T) {
	for _, m := range []elf.Machine{elf.EM_X86_64, elf.EM_AARCH64, elf.EM_ARM} {
		c := Of(m)
		var regs arch.Regs
		if g, _, ok := c.Goroutine(&regs, everywhere(1<<40), 8, 1<<20); ok {
			t.Errorf("%v: goroutine %#x", m, g)
		}
		regs[c.g] = 0x1000
		if g, hi, ok := c.Goroutine(&regs, everywhere(1<<40), 8, 1<<20); !ok || g != 0x1000 || hi != 1<<40 {
			t.Errorf("%v: goroutine %#x to %#x, %v", m, g, hi, ok)
		}
	}
}
