package main

import (
	"debug/elf"
	"errors"
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
	"gotap/engine/armtest"
	"gotap/engine/crashsafe/fallback"
	"gotap/engine/image/goabi"
	"gotap/engine/image/module"
	"gotap/engine/image/unwind"
	"gotap/engine/isa"
	"gotap/engine/linux/syscallnames"
)

// port is an architecture that gotap supports or is about to support.
type port struct {
	name    string // of arch.Arch, and of gotap emulate --arch
	folder  string // in arch/
	machine elf.Machine
	goarch  string // of a gotap that traces it natively
	ret     string // a return instruction
	crash   *fallback.Native
	stub    []byte // code that returns a thread from a system call in a target
}

// ports are the supported architectures. docs/porting.md explains how to add one.
var ports = []port{
	{"x86-64", "x86", elf.EM_X86_64, "amd64", "\xc3", fallback.AMD64, fallback.Stub(0x1000, &arch.Regs{}, 0, 8)},
	{"ia32", "x86", elf.EM_386, "amd64", "\xc3", fallback.IA32, fallback.Stub(0x1000, &arch.Regs{}, 0, 4)},
	{"arm64", "arm64", elf.EM_AARCH64, "arm64", "\xc0\x03\x5f\xd6", fallback.ARM64, fallback.ReturnCode(8)},
	{"arm", "arm", elf.EM_ARM, "arm", "\x1e\xff\x2f\xe1", fallback.ARM, fallback.ReturnCode(4)},
}

// portParts are the parts of docs/porting.md. Each function returns why an architecture lacks the part.
var portParts = []struct {
	name  string
	check func(p port) error
}{
	{"instruction set", checkInstructionSet},
	{"trap instruction", checkTrap},
	{"site", checkSite},
	{"emulator", checkEmulator},
	{"exits", checkExits},
	{"decoder tests", func(p port) error { return fileAt("../../arch/" + p.folder + "/*_test.go") }},
	{"gotap emulate", func(p port) error { return lacking(!emulate.Known(p.name), "gotap emulate does not know it") }},
	{"instruction set on Linux", checkSkip},
	{"files", func(p port) error { return named("../../engine/image/module/reloc.go", p) }},
	{"arguments and results", func(p port) error { return named("../../engine/image/debuginfo/callconv/rules.go", p) }},
	{"Go programs", func(p port) error { return lacking(goabi.Of(p.machine) == nil, "goabi.Of returns nil") }},
	{"unwinding", checkUnwinding},
	{"system calls", func(p port) error {
		return lacking(!slices.Contains(syscallnames.Names(p.machine), "write"), "syscallnames.Names has no write")
	}},
	{"crash handler", func(p port) error {
		return lacking(p.crash == nil || len(p.crash.Calls()) == 0, "package fallback has no handler")
	}},
	{"return stub", func(p port) error { return lacking(len(p.stub) == 0, "package fallback has no stub") }},
	{"mask calls", func(p port) error {
		a := abi.Of(&module.File{Machine: p.machine})
		return lacking(a == nil || a.SyscallName(a.Calls.Procmask) != "rt_sigprocmask", "abi.Of has no number of rt_sigprocmask")
	}},
	{"registers of a thread", func(p port) error { return sourceFor("../../engine/linux/ptrace/regs_linux_*.go", p) }},
	{"debug registers", func(p port) error { return sourceFor("../../engine/linux/debugreg/*_*.go", p) }},
	{"ABI", func(p port) error {
		return lacking(abi.Of(&module.File{Machine: p.machine}) == nil, "abi.Of returns nil")
	}},
	{"core dumps", func(p port) error { return named("../../engine/linux/coredump/note.go", p) }},
	{"remote stubs", func(p port) error { return named("../../engine/remote/program.go", p) }},
	{"cross build", checkCrossBuild},
	{"test machine", checkTestMachine},
}

func lacking(lacks bool, why string) error {
	if lacks {
		return errors.New(why)
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

// siteOf prepares the architecture's return instruction.
func siteOf(p port) (*isa.ISA, arch.Site, error) {
	a, err := setOf(p)
	if err != nil {
		return nil, nil, err
	}
	in, err := a.Decode([]byte(p.ret), 0x1000)
	if err != nil {
		return nil, nil, err
	}
	site, err := a.Prepare(in)
	return a, site, err
}

func checkTrap(p port) error {
	a, site, err := siteOf(p)
	if err != nil {
		return err
	}
	trap := a.Breakpoint(site.Insn())
	return lacking(len(trap) == 0 || !a.IsTrap(trap), "Breakpoint returns nothing, or IsTrap does not know it")
}

func checkSite(p port) error {
	_, site, err := siteOf(p)
	if err != nil {
		return err
	}
	return lacking(site.Insn().Control != arch.Return, "a return is not known")
}

// zeroMemory is memory that has zeros everywhere.
type zeroMemory struct{}

func (zeroMemory) ReadMemory(_ uint64, p []byte) error {
	clear(p)
	return nil
}

func (zeroMemory) WriteMemory(uint64, []byte) error { return nil }

func checkEmulator(p port) error {
	a, site, err := siteOf(p)
	if err != nil {
		return err
	}
	pc, _, _, ok := a.RegIndex("pc")
	if !ok {
		return errors.New("no register pc")
	}
	var regs arch.Regs
	regs[pc] = 0x1000
	if err := site.Emulate(&regs, zeroMemory{}); err != nil {
		return err
	}
	return lacking(regs[pc] != 0, fmt.Sprintf("a return to 0 goes to %#x", regs[pc]))
}

// checkSkip has a function return at its entry, as the script's skip() does.
func checkSkip(p port) error {
	a, err := setOf(p)
	if err != nil {
		return err
	}
	pc, _, _, ok := a.RegIndex("pc")
	if !ok {
		return errors.New("no register pc")
	}
	var regs arch.Regs
	regs[pc] = 0x1000
	if err := a.Skip(&regs, zeroMemory{}, 7); err != nil {
		return err
	}
	return lacking(regs[pc] != 0, fmt.Sprintf("skipping a function that was called from 0 goes to %#x", regs[pc]))
}

func checkExits(p port) error {
	a, err := setOf(p)
	if err != nil {
		return err
	}
	exits, err := a.Exits([]byte(p.ret), 0x1000, a.Arch, arch.OnePiece)
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

func checkCrossBuild(p port) error {
	text, err := os.ReadFile("../../Makefile")
	if err != nil {
		return err
	}
	built := regexp.MustCompile(`(?m)^cross:\n\t@for a in ([^;]*);`).FindSubmatch(text)
	if built == nil {
		return errors.New("the Makefile has no target cross with a list of architectures")
	}
	native := p.goarch == "amd64" // of CI
	return lacking(!native && !slices.Contains(strings.Fields(string(built[1])), p.goarch), "not in the Makefile's target cross")
}

func checkTestMachine(p port) error {
	if p.goarch == "amd64" { // of CI
		return fileAt("../../engine/engine_test.go")
	}
	machines := []armtest.Machine{armtest.ARM, armtest.ARM64}
	builds := func(m armtest.Machine) bool { return slices.Contains(m.Go, "GOARCH="+p.goarch) }
	return lacking(!slices.ContainsFunc(machines, builds), "package armtest has no machine")
}

// fileAt reports whether a pattern has a file.
func fileAt(pattern string) error {
	files, _ := filepath.Glob(pattern)
	return lacking(len(files) == 0, "no file "+pattern)
}

// named reports whether a file has a case for the architecture's processor: its table is not exported.
func named(file string, p port) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	processor := "elf." + p.machine.String()
	return lacking(!regexp.MustCompile(regexp.QuoteMeta(processor)+`\b`).Match(text), file+" has no "+processor)
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
		if part.check(port{name: "riscv64", folder: "riscv64", goarch: "riscv64", machine: elf.EM_RISCV, ret: "\x67\x80\x00\x00"}) == nil {
			t.Errorf("the check of %q accepts an architecture that gotap does not support", part.name)
		}
	}
}

// TestPortingPage checks that the page has a row for each part and no other, with files that exist.
func TestPortingPage(t *testing.T) {
	missing := map[string]bool{}
	for _, part := range portParts {
		missing[part.name] = true
	}
	for row := range strings.Lines(page(t, "docs/porting.md")) {
		cells := strings.Split(row, " | ")
		if !strings.HasPrefix(row, "| ") || len(cells) != 5 || cells[0] == "| part" {
			continue
		}
		name := strings.Trim(cells[0], "| `")
		if !missing[name] {
			t.Errorf("docs/porting.md: %q has no check, or two rows", name)
		}
		delete(missing, name)
		for _, cell := range cells[2:] {
			checkFiles(t, name, cell)
		}
	}
	for name := range missing {
		t.Errorf("docs/porting.md has no row for %q", name)
	}
}

// checkFiles checks that a cell of the page names files, and that they exist.
func checkFiles(t *testing.T, part, cell string) {
	files := regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cell, -1)
	for _, f := range files {
		if _, err := os.Stat(filepath.Join("..", "..", f[1])); err != nil {
			t.Errorf("docs/porting.md: %s: %v", part, err)
		}
	}
	if len(files) == 0 {
		t.Errorf("docs/porting.md: %s: a column has no file", part)
	}
}
