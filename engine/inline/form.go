package inline

import (
	"debug/elf"

	"gotap/arch"
	"gotap/arch/arm64"
	"gotap/arch/x86"
)

// Form says how places of an architecture get jumps.
type Form struct {
	Windows arch.WindowArch
	Short   arch.BranchArch // jumps that lead to a springboard; nil: there are none
	Reach   uint64          // how far from a place its island may begin, in bytes
	breaks  bool            // a breakpoint stands in the first byte of a jump while the others change, and is shorter than the jump
}

// Windows is x86-64, where a jump may replace several instructions. Short is the same with jumps of two bytes.
var (
	Windows = x86.New64().(arch.BranchArch)
	Short   = x86.NewShort64()
)

// forms are the forms of jumps. On 64-bit ARM b reaches 128 MiB, and a stub may lie at the end of an island.
var forms = map[elf.Machine]*Form{
	elf.EM_X86_64:  {Windows, Short, 1 << 30, true},
	elf.EM_AARCH64: {arm64.Windows, nil, 128<<20 - 2*IslandSize, false},
}

// FormOf returns the form of jumps in programs of a machine; nil: there are none.
func FormOf(m elf.Machine) *Form { return forms[m] }

// Len is the length of a jump in bytes.
func (f *Form) Len() int { return f.Windows.JumpLen() }
