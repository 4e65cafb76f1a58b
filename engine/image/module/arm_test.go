package module

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"strings"
	"testing"

	"gotap/engine/image/symtab"
)

// tinyARM makes a 32-bit ARM program with code in both instruction sets and the mapping symbols that tell them apart.
func tinyARM() []byte {
	const text, textAt = 0x8000, 0x34 + 0x20
	names := "\x00arm_code\x00thumb_code\x00$a\x00$t\x00$d.1\x00counter\x00"
	at := func(name string) uint32 { return uint32(strings.Index(names, name)) }
	var syms bytes.Buffer
	for _, s := range []elf.Sym32{
		{},
		{Name: at("$a"), Value: text, Shndx: 1},
		{Name: at("arm_code"), Value: text, Size: 8, Info: elf.ST_INFO(elf.STB_GLOBAL, elf.STT_FUNC), Shndx: 1},
		{Name: at("$t"), Value: text + 8, Shndx: 1},
		{Name: at("thumb_code"), Value: text + 8 + 1, Size: 4, Info: elf.ST_INFO(elf.STB_GLOBAL, elf.STT_FUNC), Shndx: 1},
		{Name: at("$d.1"), Value: text + 12, Info: elf.ST_INFO(elf.STB_GLOBAL, elf.STT_NOTYPE), Shndx: 1},
		{Name: at("counter"), Value: text + 12, Size: 4, Info: elf.ST_INFO(elf.STB_GLOBAL, elf.STT_OBJECT), Shndx: 1},
	} {
		binary.Write(&syms, binary.LittleEndian, s)
	}
	symAt := uint32(textAt + 16)
	strAt := symAt + uint32(syms.Len())
	shAt := (strAt + uint32(len(names)) + 3) &^ 3
	h := elf.Header32{Type: uint16(elf.ET_EXEC), Machine: uint16(elf.EM_ARM), Version: 1, Entry: text, Phoff: 0x34, Shoff: shAt,
		Ehsize: 0x34, Phentsize: 0x20, Phnum: 1, Shentsize: 0x28, Shnum: 4, Shstrndx: 3}
	copy(h.Ident[:], "\x7fELF\x01\x01\x01")
	var out bytes.Buffer
	binary.Write(&out, binary.LittleEndian, h)
	binary.Write(&out, binary.LittleEndian, elf.Prog32{Type: uint32(elf.PT_LOAD), Off: textAt, Vaddr: text, Filesz: 16, Memsz: 16,
		Flags: uint32(elf.PF_X | elf.PF_R)})
	out.Write(make([]byte, 16))
	out.Write(syms.Bytes())
	out.WriteString(names)
	out.Write(make([]byte, int(shAt)-out.Len()))
	for _, s := range []elf.Section32{
		{},
		{Type: uint32(elf.SHT_PROGBITS), Flags: uint32(elf.SHF_ALLOC | elf.SHF_EXECINSTR), Addr: text, Off: textAt, Size: 16},
		{Type: uint32(elf.SHT_SYMTAB), Off: symAt, Size: uint32(syms.Len()), Link: 3, Entsize: 16},
		{Type: uint32(elf.SHT_STRTAB), Off: strAt, Size: uint32(len(names))},
	} {
		binary.Write(&out, binary.LittleEndian, s)
	}
	return out.Bytes()
}

func TestThumb(t *testing.T) {
	f, err := NewFile("tiny", bytes.NewReader(tinyARM()))
	if err != nil {
		t.Fatal(err)
	}
	if f.Bits != 32 || f.Machine != elf.EM_ARM || f.PIE {
		t.Errorf("%d bits, %v, position-independent %v", f.Bits, f.Machine, f.PIE)
	}
	for name, want := range map[string]symtab.Func{
		"arm_code":   {Name: "arm_code", Addr: 0x8000, Size: 8},
		"thumb_code": {Name: "thumb_code", Addr: 0x8008, Size: 4, Thumb: true},
	} {
		m := f.Lookup(name)
		if len(m) != 1 || m[0].Func.Addr != want.Addr || m[0].Func.Thumb != want.Thumb || m[0].Func.Size != want.Size {
			t.Errorf("%s is %+v", name, m)
		}
	}
	if got := len(f.Lookup("*")); got != 2 {
		t.Errorf("%d functions; mapping symbols are none", got)
	}
	if fn, ok := f.FuncAt(0x800a); !ok || fn.Name != "thumb_code" {
		t.Errorf("0x800a is in %v", fn)
	}
}
