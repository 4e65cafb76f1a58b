package remote

import (
	"debug/elf"
	"encoding/binary"
	"fmt"

	"gotap/arch"
	"gotap/arch/arm"
	"gotap/arch/arm64"
	"gotap/arch/x86"
	"gotap/engine/module"
	"gotap/engine/rsp"
)

// isa is an instruction set as a stub shows it: what arch.Arch says of the processor, and what GDB's names and the compilers'
// conventions add to that. Values are made once and never changed.
type isa struct {
	arch.Arch
	machine elf.Machine
	name    string // GDB's name of the architecture
	kernel  string // what Linux calls it, for messages
	arm     bool   // everything is emulated, and the stack pointer is the same before and after a call
	pushed  uint64 // bytes that a call pushes
	stack   uint   // a kernel's stack has 1<<stack bytes, and begins at a multiple of that

	// setAt is the instruction set of the code at an address of a module, which may be nil; it is nil for data.
	setAt      func(m *module.Loaded, addr uint64) arch.Arch
	boundaries func(f *module.File, code []byte, vaddr uint64) ([]uint64, error)
	exits      func(code []byte, start uint64, set arch.Arch) ([]arch.Exit, error)
	// exclusives are the addresses of a function where a breakpoint would keep a sequence of exclusive accesses from ever succeeding.
	exclusives func(code []byte, start uint64, set arch.Arch) []uint64
	vector     string // name of the vector registers, before their number
	vectors    int    // how many there are
	control    string // name of the register with the vector unit's modes
	status     string // of the one with its flags, "" when that is the same
}

var amd64ISA = isa{
	Arch: x86.New64(), machine: elf.EM_X86_64, name: "i386:x86-64", kernel: "x86-64", pushed: 8, stack: 14,
	setAt:      func(*module.Loaded, uint64) arch.Arch { return x86.New64() },
	boundaries: x86Boundaries(x86.New64()), exits: x86.Exits,
	vector: "xmm", vectors: 16,
}

var i386ISA = isa{
	Arch: x86.New32(), machine: elf.EM_386, name: "i386", kernel: "IA-32", pushed: 4, stack: 13,
	setAt:      func(*module.Loaded, uint64) arch.Arch { return x86.New32() },
	boundaries: x86Boundaries(x86.New32()), exits: x86.Exits,
	vector: "xmm", vectors: 8,
}

var arm64ISA = isa{
	Arch: arm64.A64, machine: elf.EM_AARCH64, name: "aarch64", kernel: "AArch64", arm: true, stack: 14,
	setAt: func(m *module.Loaded, addr uint64) arch.Arch {
		if addr&3 != 0 || codeAt(m, addr) == module.CodeData {
			return nil
		}
		return arm64.A64
	},
	boundaries: func(f *module.File, code []byte, vaddr uint64) ([]uint64, error) {
		return arm64.Boundaries(code, vaddr)
	},
	exits:      func(code []byte, start uint64, _ arch.Arch) ([]arch.Exit, error) { return arm64.Exits(code, start) },
	exclusives: func(code []byte, start uint64, _ arch.Arch) []uint64 { return arm64.ExclusiveRuns(code, start) },
	vector:     "v", vectors: 32, control: "fpcr", status: "fpsr",
}

var armISA = isa{
	Arch: arm.A32, machine: elf.EM_ARM, name: "arm", kernel: "ARM", arm: true, stack: 13,
	setAt: func(m *module.Loaded, addr uint64) arch.Arch {
		switch kind := codeAt(m, addr); {
		case kind == module.CodeData, kind != module.CodeThumb && addr&3 != 0:
			return nil
		case kind == module.CodeThumb:
			return arm.Thumb
		}
		return arm.A32
	},
	boundaries: armBoundaries, exits: arm.Exits, exclusives: arm.ExclusiveRuns,
	vector: "d", vectors: 32, control: "fpscr",
}

var isas = []*isa{&amd64ISA, &i386ISA, &arm64ISA, &armISA}

// isaNamed finds an instruction set by GDB's name of it. Boards say "armv7" and the like, for arm.
func isaNamed(name string) *isa {
	for _, a := range isas {
		if a.name == name {
			return a
		}
	}
	if len(name) > 3 && name[:3] == "arm" {
		return &armISA
	}
	return nil
}

// isaOf finds the instruction set of a file.
func isaOf(machine elf.Machine) *isa {
	for _, a := range isas {
		if a.machine == machine {
			return a
		}
	}
	return nil
}

// codeAt is what the file says of an address.
func codeAt(m *module.Loaded, addr uint64) module.CodeKind {
	if m == nil || m.File == nil || m.Err != nil {
		return module.CodeUnknown
	}
	return m.File.CodeAt(m.Vaddr(addr))
}

func x86Boundaries(a arch.Arch) func(*module.File, []byte, uint64) ([]uint64, error) {
	return func(_ *module.File, code []byte, vaddr uint64) ([]uint64, error) {
		return x86.Boundaries(code, vaddr, a)
	}
}

func armBoundaries(f *module.File, code []byte, vaddr uint64) ([]uint64, error) {
	set := arm.A32
	if f.CodeAt(vaddr) == module.CodeThumb {
		set = arm.Thumb
	}
	data := func(addr uint64) bool { return f.CodeAt(addr) == module.CodeData }
	return arm.BoundariesIn(code, vaddr, set, data)
}

// pointer takes a pointer to code apart: on 32-bit ARM bit 0 chooses Thumb. A nil set means that the module tells.
func (a *isa) pointer(v uint64) (addr uint64, set arch.Arch) {
	if a.machine != elf.EM_ARM {
		return v, nil
	}
	if v&1 != 0 {
		return v &^ 1, arm.Thumb
	}
	return v, arm.A32
}

// kind is what a stub wants to know of an instruction where it is to set a breakpoint: its length, but 3 for a long one of Thumb.
func (a *isa) kind(set arch.Arch, in arch.Insn) int {
	switch {
	case set == arm.Thumb && in.Len == 4:
		return 3
	case a.arm:
		return in.Len
	}
	return 1
}

// slot says where a register of the target is in its packets, and in arch.Regs.
type slot struct {
	reg   rsp.Register
	index int
	bits  int
}

// binding is where the registers of a target are.
type binding struct {
	slots   []slot
	vectors []rsp.Register // by number; empty when the stub does not show them
	control rsp.Register
	status  rsp.Register
	current rsp.Register // that holds a kernel's present task
}

// aliases are GDB's names of registers that package arch calls otherwise.
var aliases = map[string]string{"cpsr/aarch64": "pstate"}

// bind finds the registers of the architecture in the stub's description.
func (a *isa) bind(d *rsp.Description) (*binding, error) {
	b := new(binding)
	var have [len(arch.Regs{})]bool
	for _, r := range d.Registers {
		name := r.Name
		if alias := aliases[name+"/"+a.name]; alias != "" {
			name = alias
		}
		i, bits, shift, ok := a.RegIndex(name)
		if !ok || shift != 0 || have[i] {
			continue
		}
		have[i] = true
		b.slots = append(b.slots, slot{r, i, min(bits, r.Bits)})
	}
	if !have[a.PC()] || !have[a.SP()] {
		return nil, fmt.Errorf("cannot use the stub's registers: there is no program counter or no stack pointer of %s among them", a.kernel)
	}
	a.bindVectors(b, d)
	return b, nil
}

// bindVectors finds the vector registers: all or none. SVE's registers begin with those of AArch64's older vector unit.
func (a *isa) bindVectors(b *binding, d *rsp.Description) {
	names := []string{a.vector}
	if a == &arm64ISA {
		names = append(names, "z")
	}
	for _, name := range names {
		var all []rsp.Register
		for i := range a.vectors {
			r, ok := d.Find(fmt.Sprintf("%s%d", name, i))
			if !ok {
				break
			}
			all = append(all, r)
		}
		if len(all) == a.vectors || a == &armISA && len(all) == 16 { // VFPv3-D16
			b.vectors = all
			break
		}
	}
	b.control, _ = d.Find(a.control)
	b.status, _ = d.Find(a.status)
	if a == &arm64ISA {
		b.current, _ = d.Find("SP_EL0")
	}
}

// word reads up to eight bytes, the lowest first.
func word(p []byte) uint64 {
	var w [8]byte
	copy(w[:], p)
	return binary.LittleEndian.Uint64(w[:])
}

// putWord writes a number into as many bytes as there are.
func putWord(p []byte, v uint64) {
	var w [8]byte
	binary.LittleEndian.PutUint64(w[:], v)
	clear(p)
	copy(p, w[:])
}
