package crashsafe

import (
	"bytes"
	"fmt"
	"slices"

	"gotap/engine/abi"
	"gotap/engine/image/module"
	"gotap/engine/isa"
	"gotap/engine/linux/ptrace"
)

// Finding breakpoints that were left behind by comparing the code in memory with its files.

// module restores one module of a process.
func (c *Cleaned) module(pid int, mem *ptrace.Memory, m *module.Loaded) error {
	a := abi.Of(m.File)
	if a == nil {
		return nil
	}
	maps, err := module.Maps(pid)
	if err != nil {
		return fmt.Errorf("cannot clean %s: %w", m.Path, err)
	}
	for _, text := range m.File.Text() {
		for _, code := range m.Backed(maps, text) {
			if err := c.section(pid, mem, m, a, code); err != nil {
				return fmt.Errorf("cannot clean %s: %w", m.Path, err)
			}
		}
	}
	return nil
}

// longestTrap is the length of the longest breakpoint, in bytes.
const longestTrap = 4

// cleanChunk is how much code is compared at a time.
const cleanChunk = 64 << 10

// section restores code that is mapped from a file.
func (c *Cleaned) section(pid int, mem *ptrace.Memory, m *module.Loaded, a *abi.ABI, text module.Range) error {
	now := make([]byte, cleanChunk+longestTrap-1) // a breakpoint that begins in this chunk may end in the next
	for at := text.Start; at < text.End; at += cleanChunk {
		file, err := m.File.Code(at, int(min(uint64(len(now)), text.End-at)))
		if err != nil || len(file) == 0 {
			return err
		}
		n := mem.PeekAvailable(m.Addr(at), now[:len(file)])
		var left []module.Range
		for i := range min(n, cleanChunk) {
			if !a.IsTrap(now[i:n]) {
				continue
			}
			vaddr := at + uint64(i)
			if trap := leftBehind(m, a, now[i:n], vaddr); trap > 0 {
				left = append(left, module.Range{Start: vaddr, End: vaddr + uint64(trap)})
			}
		}
		if err := c.restore(pid, mem, m, left); err != nil {
			return err
		}
	}
	return nil
}

// restore writes the file's instructions over breakpoints that were left in a module. It reads the mappings again: what
// the process has mapped there since belongs to the process.
func (c *Cleaned) restore(pid int, mem *ptrace.Memory, m *module.Loaded, left []module.Range) error {
	if len(left) == 0 {
		return nil
	}
	maps, err := module.Maps(pid)
	if err != nil {
		return err
	}
	for _, trap := range left {
		if !slices.Equal(m.Backed(maps, trap), []module.Range{trap}) {
			continue
		}
		code, err := m.File.Code(trap.Start, int(trap.End-trap.Start))
		if err != nil {
			return err
		}
		if err := mem.Poke(m.Addr(trap.Start), code, 0); err != nil {
			return err
		}
		c.Restored = append(c.Restored, fmt.Sprintf("%s+%#x", m.Path, trap.Start))
	}
	return nil
}

// leftBehind returns the length of a left-behind breakpoint at the start of now, or 0 if there is none. There is one if
// the file has another instruction at vaddr, as far as can be determined without the function it belongs to.
func leftBehind(m *module.Loaded, a *abi.ABI, now []byte, vaddr uint64) int {
	code, err := m.File.Code(vaddr, isa.LongestInsn)
	set := a.SetAt(m, m.Addr(vaddr))
	if err != nil || set == nil {
		return 0
	}
	in, err := set.Decode(code, vaddr)
	if err != nil {
		return 0
	}
	trap := set.Breakpoint(in)
	if !bytes.HasPrefix(now, trap) || bytes.HasPrefix(code, trap) {
		return 0
	}
	return len(trap)
}
