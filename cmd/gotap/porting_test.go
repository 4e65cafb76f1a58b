package main

import (
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gotap/arch"
	"gotap/cmd/gotap/emulate"
	"gotap/engine/abi"
	"gotap/engine/fallback"
	"gotap/engine/image/goabi"
	"gotap/engine/image/module"
	"gotap/engine/image/unwind"
	"gotap/engine/isa"
	"gotap/engine/linux/syscallnames"
)

// port is an architecture that gotap supports or is about to support.
type port struct {
	name    string // of arch.Arch, and of gotap emulate --arch
	machine elf.Machine
	goarch  string // of a gotap that traces it natively
	ret     string // a return instruction
	crash   *fallback.Native
}

// ports are the supported architectures. docs/porting.md explains how to add one.
var ports = []port{
	{"x86-64", elf.EM_X86_64, "amd64", "\xc3", fallback.AMD64},
	{"ia32", elf.EM_386, "amd64", "\xc3", fallback.IA32},
	{"arm64", elf.EM_AARCH64, "arm64", "\xc0\x03\x5f\xd6", fallback.ARM64},
	{"arm", elf.EM_ARM, "arm", "\x1e\xff\x2f\xe1", fallback.ARM},
}

// portParts are the parts of docs/porting.md. Each function returns why an architecture lacks the part.
var portParts = []struct {
	name  string
	check func(p port) error
}{
	{"instruction set", checkInstructionSet},
	{"site", checkSite},
	{"exits", checkExits},
	{"unwinding", checkUnwinding},
	{"Go programs", func(p port) error { return lacking(goabi.Of(p.machine) == nil, "goabi.Of returns nil") }},
	{"system calls", func(p port) error {
		return lacking(!slices.Contains(syscallnames.Names(p.machine), "write"), "syscallnames.Names has no write")
	}},
	{"crash handler", func(p port) error {
		return lacking(p.crash == nil || len(p.crash.Calls()) == 0, "package fallback has no handler")
	}},
	{"ABI", func(p port) error {
		return lacking(abi.Of(&module.File{Machine: p.machine}) == nil, "abi.Of returns nil")
	}},
	{"registers of a thread", func(p port) error { return sourceFor("../../engine/linux/ptrace/regs_linux_*.go", p) }},
	{"debug registers", func(p port) error { return sourceFor("../../engine/linux/debugreg/*_*.go", p) }},
	{"gotap emulate", func(p port) error { return lacking(!emulate.Known(p.name), "gotap emulate does not know it") }},
}

func lacking(lacks bool, why string) error {
	if lacks {
		return fmt.Errorf("%s", why)
	}
	return nil
}

func setOf(p port) (*isa.ISA, error) {
	if a := isa.Of(p.machine); a != nil {
		return a, nil
	}
	return nil, fmt.Errorf("isa.Of(%v) returns nil", p.machine)
}

func checkInstructionSet(p port) error {
	a, err := setOf(p)
	if err != nil {
		return err
	}
	for _, name := range []string{"pc", "sp", "fp"} {
		if _, _, _, ok := a.RegIndex(name); !ok {
			return fmt.Errorf("no register %s", name)
		}
	}
	return lacking(a.Name() != p.name || a.Text([]byte(p.ret), 0) == "", "name or disassembly is missing")
}

func checkSite(p port) error {
	a, err := setOf(p)
	if err != nil {
		return err
	}
	in, err := a.Decode([]byte(p.ret), 0x1000)
	if err != nil {
		return err
	}
	if _, err := a.Prepare(in); err != nil {
		return err
	}
	return lacking(len(a.Breakpoint(in)) == 0 || in.Control != arch.Return, "no breakpoint, or a return is not known")
}

func checkExits(p port) error {
	a, err := setOf(p)
	if err != nil {
		return err
	}
	exits, err := a.Exits([]byte(p.ret), 0x1000, a.Arch)
	if err != nil {
		return err
	}
	return lacking(len(exits) != 1, "a return is not found as an exit")
}

func checkUnwinding(p port) error {
	a, err := setOf(p)
	if err != nil {
		return err
	}
	if _, err := unwind.LayoutOf(a); err != nil {
		return err
	}
	_, ok := unwind.RegisterName(p.machine, 0)
	return lacking(!ok, "no names of DWARF's registers")
}

// sourceFor reports whether one of the files is built for the architecture.
func sourceFor(pattern string, p port) error {
	files, _ := filepath.Glob(pattern)
	built := func(f string) bool { return strings.HasSuffix(f, "_"+p.goarch+".go") }
	return lacking(p.goarch == "" || !slices.ContainsFunc(files, built), "no file for "+p.goarch+" in "+filepath.Dir(pattern))
}

// TestPorting checks that every architecture has every part.
func TestPorting(t *testing.T) {
	for _, p := range ports {
		for _, part := range portParts {
			if err := part.check(p); err != nil {
				t.Errorf("%s lacks %q of docs/porting.md: %v", p.name, part.name, err)
			}
		}
	}
}

// TestPortingNamesWhatLacks checks that an architecture without any part lacks them all.
func TestPortingNamesWhatLacks(t *testing.T) {
	for _, part := range portParts {
		if part.check(port{name: "riscv64", machine: elf.EM_RISCV, ret: "\x67\x80\x00\x00"}) == nil {
			t.Errorf("the check of %q accepts an architecture that gotap does not support", part.name)
		}
	}
}

// TestPortingPage checks that the page has a row for each part, with files that exist.
func TestPortingPage(t *testing.T) {
	text := page(t, "docs/porting.md")
	for _, part := range portParts {
		if !strings.Contains(text, "\n| "+part.name+" |") && !strings.Contains(text, "\n| `"+part.name+"` |") {
			t.Errorf("docs/porting.md has no row for %q", part.name)
		}
	}
	for row := range strings.Lines(text) {
		cells := strings.Split(row, " | ")
		if !strings.HasPrefix(row, "| ") || len(cells) != 5 || cells[0] == "| part" {
			continue
		}
		for _, cell := range cells[2:] {
			files := regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cell, -1)
			for _, f := range files {
				if _, err := os.Stat(filepath.Join("..", "..", f[1])); err != nil {
					t.Errorf("docs/porting.md: %s: %v", cells[0], err)
				}
			}
			if len(files) == 0 {
				t.Errorf("docs/porting.md: %s: a column has no file", cells[0])
			}
		}
	}
}
