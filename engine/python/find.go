package python

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"strings"

	"gotap/engine/image/module"
)

// Memory is the memory of a process.
type Memory interface {
	// ReadMemory fills all of p from addr, or fails.
	ReadMemory(addr uint64, p []byte) error
}

// Interpreter is where the interpreter of a process has what it takes to find frames.
type Interpreter struct {
	*layout
	minor   int
	runtime uint64
	types   struct{ code, text, bytes uint64 }

	Eval uint64 // the function that evaluates a frame
	Size uint64 // of it, in bytes; a part that the compiler split off is elsewhere
}

// Files remembers which files contain an interpreter. The zero value is empty.
type Files struct {
	known map[*module.File]*symbols
}

// symbols are the addresses of an interpreter's symbols in its file.
type symbols struct {
	runtime, code, text, bytes uint64
	eval, size                 uint64
	layout                     *layout // once the version is known
	minor                      int
	asked                      bool
}

// Of returns the interpreter of a process, or nil if it has none whose frames can be read.
func (f *Files) Of(mods []module.Loaded, mem Memory) *Interpreter {
	for i := range mods {
		m := &mods[i]
		if m.File == nil || m.Err != nil {
			continue
		}
		s, ok := f.known[m.File]
		if !ok {
			s = symbolsOf(m, i == 0)
			if f.known == nil {
				f.known = map[*module.File]*symbols{}
			}
			f.known[m.File] = s
		}
		if s == nil {
			continue
		}
		if !s.asked {
			s.asked = true
			s.findLayout(m, mem)
		}
		if s.layout != nil {
			return s.at(m)
		}
	}
	return nil
}

// at returns the interpreter where a module is loaded.
func (s *symbols) at(m *module.Loaded) *Interpreter {
	in := &Interpreter{layout: s.layout, minor: s.minor, runtime: m.Addr(s.runtime), Eval: m.Addr(s.eval), Size: s.size}
	in.types.code, in.types.text, in.types.bytes = m.Addr(s.code), m.Addr(s.text), m.Addr(s.bytes)
	return in
}

// symbolsOf returns the symbols of an interpreter, or nil if a file has none. An interpreter is a program of any name,
// as it may be built in, or a library that has python in its name.
func symbolsOf(m *module.Loaded, program bool) *symbols {
	f := m.File
	if f.Machine != elf.EM_X86_64 || f.WordSize() != 8 || !program && !strings.Contains(m.Path, "python") || !f.MayDefine("_PyRuntime") {
		return nil
	}
	var s symbols
	for name, to := range map[string]*uint64{"_PyRuntime": &s.runtime, "PyCode_Type": &s.code, "PyUnicode_Type": &s.text, "PyBytes_Type": &s.bytes} {
		found := f.LookupVar(name)
		if len(found) == 0 {
			return nil
		}
		*to = found[0].Addr
	}
	eval := f.Lookup("_PyEval_EvalFrameDefault")
	if len(eval) == 0 {
		return nil
	}
	s.eval, s.size = eval[0].Func.Addr, eval[0].Func.Size
	return &s
}

// findLayout finds the version, and with it the layout; nil for a version that is not known.
func (s *symbols) findLayout(m *module.Loaded, mem Memory) {
	s.minor = minorVersion(m, mem)
	s.layout = layouts[s.minor]
	if s.minor != 13 {
		return
	}
	base := s.layout
	text := make([]byte, binary.Size(debugOffsets{}))
	s.layout = nil
	if mem.ReadMemory(m.Addr(s.runtime), text) == nil {
		s.layout, _ = described(base, text)
	}
}

// minorVersion returns N of version 3.N, or -1.
func minorVersion(m *module.Loaded, mem Memory) int {
	if found := m.File.LookupVar("Py_Version"); len(found) > 0 {
		var p [8]byte
		if mem.ReadMemory(m.Addr(found[0].Addr), p[:]) != nil || p[3] != 3 {
			return -1
		}
		return int(p[2])
	}
	found := m.File.Lookup("Py_GetVersion")
	if len(found) == 0 {
		return -1
	}
	fn := found[0].Func
	code, err := m.File.Code(fn.Addr, int(min(max(fn.Size, 64), 256)))
	if err != nil {
		return -1
	}
	for i := range code {
		if target, ok := reference(code[i:], fn.Addr+uint64(i)); ok {
			if n := minorIn(m, target); n >= 0 {
				return n
			}
		}
	}
	return -1
}

// reference decodes an instruction that loads an address: lea with an address relative to the next instruction, or a
// move of 32 bits.
func reference(code []byte, at uint64) (target uint64, ok bool) {
	if len(code) >= 7 && code[0]&0xfb == 0x48 && code[1] == 0x8d && code[2]&0xc7 == 0x05 {
		return at + 7 + uint64(int64(int32(binary.LittleEndian.Uint32(code[3:])))), true
	}
	if len(code) >= 5 && code[0]&0xf8 == 0xb8 {
		return uint64(binary.LittleEndian.Uint32(code[1:])), true
	}
	return 0, false
}

// minorIn returns N of the text "3.N.M" at an address of a file, or -1.
func minorIn(m *module.Loaded, vaddr uint64) int {
	text, err := m.File.Code(vaddr, 16)
	if err != nil {
		return -1
	}
	text, _, ok := bytes.Cut(text, []byte{0})
	parts := strings.Split(string(text), ".")
	if !ok || len(parts) != 3 || parts[0] != "3" {
		return -1
	}
	switch parts[1] {
	case "9":
		return 9
	case "10":
		return 10
	}
	return -1
}
