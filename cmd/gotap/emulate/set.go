package emulate

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"gotap/arch"
	"gotap/arch/arm"
	"gotap/arch/arm64"
	"gotap/arch/x86"
)

// instructionSet describes an architecture, in addition to arch.Arch.
type instructionSet struct {
	arch.Arch
	names  []string // of the registers that are printed, in their order
	status string   // the status register, which "cpsr" sets
	outer  bool     // the answer has it besides "regs", as "cpsr"
	set    uint64   // bits that the status register always has
	clear  uint64   // and that it never has
	align  uint64   // what addresses of instructions are multiples of; 0 for any
	start  arch.Regs
	flags  flagsForm
	exec   func(in arch.Insn, regs *arch.Regs, v *arch.Vectors, mem arch.Memory) error
}

// flagsForm is how lines give the flags of arm64: in bits 31 to 28, as the processor has them, or as a number of four
// bits. The first value that is not zero decides, because the two forms share no bits.
type flagsForm uint8

const (
	unknownForm flagsForm = iota // as highBits
	highBits
	fourBits
)

// flagsText is the flags in a line.
var flagsText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"nzcv"\s*:\s*("\w*"|\d+)`) })

// learn finds the form of the flags, if these lines show it.
func (s *instructionSet) learn(lines [][]byte) {
	if s.status != "nzcv" {
		return
	}
	for i := 0; i < len(lines) && s.flags == unknownForm; i++ {
		m := flagsText().FindSubmatch(lines[i])
		var v number
		switch {
		case m == nil || v.parse(string(m[1])) != nil || v == 0:
		case v < 16:
			s.flags = fourBits
		default:
			s.flags = highBits
		}
	}
}

// thumbState is the T bit of the CPSR.
const thumbState = 1 << 5

// instructionSets are the ones that `--arch` names.
var instructionSets = map[string]*instructionSet{
	"arm":    {Arch: arm.A32, names: numbered("r", 15), status: "cpsr", outer: true, clear: thumbState, align: 4, exec: arm.Exec},
	"thumb":  {Arch: arm.Thumb, names: numbered("r", 15), status: "cpsr", outer: true, set: thumbState, exec: arm.Exec},
	"arm64":  {Arch: arm64.A64, names: append(numbered("x", 31), "sp", "nzcv"), status: "nzcv", align: 4, exec: arm64.Exec},
	"x86-64": {Arch: x86.New64(), names: x86Names("rax rbx rcx rdx rsi rdi rbp rsp", 16), status: "eflags", exec: execX86},
	"ia32":   {Arch: x86.New32(), names: x86Names("eax ebx ecx edx esi edi ebp esp", 8), status: "eflags", start: flatSegments, exec: execX86},
}

// flatSegments lets fs and gs of 32-bit programs be used: a selector of zero could not. Their bases are "fs_base" and
// "gs_base".
var flatSegments = arch.Regs{x86.FS: 0x63, x86.GS: 0x63}

func numbered(prefix string, n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprint(prefix, i))
	}
	return names
}

func x86Names(first string, n int) []string {
	names := strings.Fields(first)
	for i := 8; i < n; i++ {
		names = append(names, fmt.Sprint("r", i))
	}
	return append(names, "eflags")
}

// execX86 has no vector registers to give.
func execX86(in arch.Insn, regs *arch.Regs, _ *arch.Vectors, mem arch.Memory) error {
	return x86.Exec(in, regs, mem)
}

// Known reports whether there is an instruction set of a name.
func Known(name string) bool { return instructionSets[name] != nil }
