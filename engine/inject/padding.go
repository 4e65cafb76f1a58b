package inject

import (
	"bytes"

	"gotap/engine/crashsafe/fallback"
	"gotap/engine/image/module"
	"gotap/engine/linux/ptrace"
)

// Before a process has a region, the code that makes it call the kernel lies for a moment in the padding after the code
// of a module: zeros that the file has there, or that the kernel fills the last page with. A session that is killed in
// that moment leaves the code behind, possibly with a thread in it. LeftStubs finds it then.

// padding finds room after the code of a module.
func padding(mem *ptrace.Memory, maps []module.Mapping, size uint64) (at uint64, ok bool) {
	for _, m := range maps {
		if m.Exec && m.Read && !m.Write && !m.Shared && m.Path != "[vsyscall]" && m.End-m.Start > size && zeros(mem, m.End-size, size) {
			return m.End - size, true
		}
	}
	return 0, false
}

// zeros reports whether memory at an address, and a few bytes before it, is all zeros: padding.
func zeros(mem *ptrace.Memory, at, size uint64) bool {
	const before = 16
	p := make([]byte, before+size)
	return mem.Peek(at-before, p) == nil && bytes.Equal(p, make([]byte, len(p)))
}

// stubRooms are the sizes of code placed in padding, on any architecture.
var stubRooms = []uint64{fallback.StubSize, returnCodeSize, frameRoomSize}

// LeftStubs finds the code of calls that earlier sessions left in padding.
func LeftStubs(mem *ptrace.Memory, maps []module.Mapping, native *fallback.Native) (left []module.Range) {
	for _, m := range maps {
		if !m.Exec || m.Write || m.Path == "" || m.Path[0] == '[' {
			continue
		}
		for _, size := range stubRooms {
			p := make([]byte, returnCodeSize)
			if m.End-m.Start > size && mem.Peek(m.End-size, p) == nil && native.BeginsStub(p) {
				left = append(left, module.Range{Start: m.End - size, End: m.End})
			}
		}
	}
	return left
}
