package crashsafe

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"iter"

	"gotap/arch"
	"gotap/arch/arm"
	"gotap/engine/image/module"
)

// Calls of rt_sigprocmask and rt_sigaction in code of IA32 and of ARM. The number is loaded as a constant shortly
// before the call.
//
// glibc's Thumb code does not use svc for most calls: r7, which has the number, may be the frame pointer there. It
// loads the number into r12 and calls a function that moves it to r7 and back (__libc_do_syscall, which has no symbol
// in a stripped library). A breakpoint is then set on that call, and not in the function, through which nearly all
// system calls go.

// callPattern holds the instructions of one instruction set by which a call is recognised.
type callPattern struct {
	align  int      // of instructions, in bytes
	number [][]byte // each loads the number of rt_sigprocmask
	calls  [][]byte // each calls the kernel; nil: callHelper does
	blocks [][]byte // each loads SIG_BLOCK as the first argument
	sets   [][]byte // each loads SIG_SETMASK
	action [][]byte // each loads the number of rt_sigaction
}

// patterns holds those of a machine.
var patterns = map[elf.Machine][]callPattern{
	elf.EM_386: {{
		align: 1, number: [][]byte{{0xb8, 175, 0, 0, 0}}, // mov $175, %eax
		calls:  [][]byte{{0x65, 0xff, 0x15, 0x10, 0, 0, 0}, {0xcd, 0x80}}, // call *%gs:0x10, which glibc uses for the vDSO; int $0x80
		blocks: [][]byte{{0x31, 0xdb}, {0xbb, maskBlock, 0, 0, 0}},        // xor %ebx, %ebx; mov $0, %ebx
		sets:   [][]byte{{0xbb, maskSet, 0, 0, 0}},
		action: [][]byte{{0xb8, 174, 0, 0, 0}}, // mov $174, %eax
	}},
	elf.EM_AARCH64: {{
		align: 4, number: words(0xd28010e8, 0x528010e8), calls: words(0xd4000001), // mov x8, #135; mov w8, #135; svc #0
		blocks: words(0xd2800000, 0x52800000, 0x2a1f03e0), sets: words(0xd2800040, 0x52800040), // mov x0, #…; mov w0, #…; mov w0, wzr
		action: words(0xd28010c8, 0x528010c8), // mov x8, #134; mov w8, #134
	}},
	elf.EM_ARM: {{ // A32
		align: 4, number: words(0xe3a070af), calls: words(0xef000000), // mov r7, #175; svc #0
		blocks: words(0xe3a00000), sets: words(0xe3a00002), // mov r0, #…
		action: words(0xe3a070ae), // mov r7, #174
	}, { // Thumb
		align: 2, number: [][]byte{{175, 0x27}, {0x4f, 0xf0, 175, 0x07}}, calls: [][]byte{{0x00, 0xdf}}, // movs r7, #175; mov.w r7, #175; svc #0
		blocks: thumbBlocks, sets: thumbSets, action: [][]byte{{174, 0x27}, {0x4f, 0xf0, 174, 0x07}},
	}, {
		align: 2, number: [][]byte{{0x4f, 0xf0, 175, 0x0c}, {0x40, 0xf2, 175, 0x0c}}, // mov.w r12, #175; movw r12, #175
		blocks: thumbBlocks, sets: thumbSets, action: [][]byte{{0x4f, 0xf0, 174, 0x0c}, {0x40, 0xf2, 174, 0x0c}},
	}},
}

// Instructions of Thumb: movs r0, #…; mov.w r0, #….
var (
	thumbBlocks = [][]byte{{maskBlock, 0x20}, {0x4f, 0xf0, maskBlock, 0x00}}
	thumbSets   = [][]byte{{maskSet, 0x20}, {0x4f, 0xf0, maskSet, 0x00}}
)

// callHelper is the function of glibc that calls the kernel: push {r7, lr}; mov r7, r12; svc 0; pop {r7, pc}.
var callHelper = []byte{0x80, 0xb5, 0x67, 0x46, 0x00, 0xdf, 0x80, 0xbd}

// words returns instructions of 32 bits.
func words(all ...uint32) (list [][]byte) {
	for _, w := range all {
		list = append(list, binary.LittleEndian.AppendUint32(nil, w))
	}
	return list
}

// addPatterns adds the sites in code, which begins at an address of a file.
func (s *signalSites) addPatterns(f *module.File, code []byte, start uint64) {
	for _, set := range patterns[f.Machine] {
		for load, site := range set.sites(f, code, start, set.number) {
			list := s.listOf(set.first(code[max(0, load-callReach) : site.vaddr-start]))
			*list = append(*list, site)
		}
		for _, site := range set.sites(f, code, start, set.action) {
			s.actions = append(s.actions, site)
		}
	}
}

// sites yields the calls in code that are made with a number, with the offset in code at which the number is loaded.
func (set *callPattern) sites(f *module.File, code []byte, start uint64, numbers [][]byte) iter.Seq2[int, callSite] {
	return func(yield func(int, callSite) bool) {
		for _, number := range numbers {
			for load := set.next(code, 0, number); load >= 0; load = set.next(code, load+set.align, number) {
				at, insn := set.callBehind(f, code, load, start)
				if insn.length > 0 && !yield(load, callSite{start + uint64(at), insn}) {
					return
				}
			}
		}
	}
}

// callReach is how far apart, in bytes, a call and what prepares it may be.
const callReach = 56

// next returns the offset of an instruction in code, at or behind an offset; -1: there is none.
func (set *callPattern) next(code []byte, from int, insn []byte) int {
	for from <= len(code) {
		i := bytes.Index(code[from:], insn)
		if i < 0 {
			break
		}
		if from += i; from%set.align == 0 {
			return from
		}
		from++
	}
	return -1
}

// callBehind returns the offset of the first call behind an offset of code. The length is 0 if there is none.
func (set *callPattern) callBehind(f *module.File, code []byte, load int, start uint64) (at int, insn callInsn) {
	for at = load; at < min(load+callReach, len(code)-3); at += set.length(code[at:]) {
		vaddr := start + uint64(at)
		if set.calls == nil && callsHelper(f, code[at:at+4], vaddr) {
			return at, callInsn{length: 4, helper: true}
		}
		for _, call := range set.calls {
			if bytes.HasPrefix(code[at:], call) && isInstruction(f, vaddr) {
				return at, callInsn{length: len(call)}
			}
		}
	}
	return 0, callInsn{}
}

// length returns the length of the instruction at the start of code, in bytes; on IA32 1, because any byte may begin
// one.
func (set *callPattern) length(code []byte) int {
	const firstWide = 0xe800 // from this first halfword on, instructions of Thumb have 32 bits (Arm ARM DDI 0406, A6.1)
	if set.align == 2 && binary.LittleEndian.Uint16(code) >= firstWide {
		return 4
	}
	return set.align
}

// callsHelper reports whether an instruction of Thumb calls a function that is callHelper. That proves that it is an
// instruction: no data behind the load of the number would have the distance to exactly these bytes. The functions of a
// stripped library have no other proof (isInstruction).
func callsHelper(f *module.File, code []byte, vaddr uint64) bool {
	in, err := arm.Thumb.Decode(code, vaddr)
	if err != nil || in.Control != arch.Call {
		return false
	}
	to, err := f.Code(in.Target&^1, len(callHelper))
	return err == nil && bytes.Equal(to, callHelper)
}

// first returns which constant is loaded last as the first argument of a call; -1: none that is known. code ends at the
// call, and what is in front of an earlier call in it does not count.
func (set *callPattern) first(code []byte) int {
	for _, call := range set.calls {
		code = code[bytes.LastIndex(code, call)+1:]
	}
	how, last := -1, -1
	for value, insns := range map[int][][]byte{maskBlock: set.blocks, maskSet: set.sets} {
		for _, insn := range insns {
			if at := bytes.LastIndex(code, insn); at > last {
				how, last = value, at
			}
		}
	}
	return how
}

// listOf returns the list for calls with a constant as their first argument.
func (s *signalSites) listOf(how int) *[]callSite {
	switch how {
	case maskBlock:
		return &s.begins
	case maskSet:
		return &s.restores
	}
	return &s.masks
}
