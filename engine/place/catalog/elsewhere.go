package catalog

import (
	"bytes"
	"debug/elf"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"gotap/engine/place"
)

// Elsewhere is a hint at where a place is that a command lacks: in a program that the command starts, or in the kernel.
// It is empty when nothing is known.
func Elsewhere(missing *place.NotFoundError, command []string) string {
	if hint := inStarted(missing, command); hint != "" {
		return hint
	}
	if missing.What == place.NoFunction && missing.Spec.Module == "" && isKernelFunction(missing.Spec.Name) {
		return "it is a function of the kernel, which is traced through a GDB stub: --remote HOST:PORT --exe vmlinux; system calls are syscall:NAME here"
	}
	return ""
}

// Starts returns the path of a program that is named among COMMAND's arguments and has a place that can be probed when
// COMMAND starts it: that of env ./prog, timeout 5 prog, sh -c 'prog; …'. It is empty if there is none.
func Starts(spec place.Spec, command []string) string {
	if spec.Kind == place.Watch || spec.Kind == place.Syscall || spec.Absolute() {
		return ""
	}
	files := New(nil)
	defer files.Close()
	for _, path := range startable(command) {
		inside := spec
		if !meansStarted(spec.Module, path) {
			continue
		}
		inside.Module = path
		if found, err := files.File(inside); err == nil && len(found) > 0 {
			return path
		}
	}
	return ""
}

// inStarted is a hint at a program that is named among COMMAND's arguments and has the place, or that lacks it for
// another reason than COMMAND.
func inStarted(missing *place.NotFoundError, command []string) string {
	if missing.What == place.NoSyscall {
		return ""
	}
	files := New(nil)
	defer files.Close()
	lacking := ""
	for _, path := range startable(command) {
		spec := missing.Spec
		if !meansStarted(spec.Module, path) {
			continue
		}
		spec.Module = path
		_, err := files.File(spec)
		if err == nil && spec.Kind == place.Watch {
			return path + " has it; watchpoints are placed before " + filepath.Base(command[0]) + " starts that program: make it the COMMAND"
		}
		if err == nil {
			return path + " has it: write " + spec.String() + ", which is placed when " + filepath.Base(command[0]) + " starts that program"
		}
		var there *place.NotFoundError
		if lacking == "" && spec.Kind != place.Watch && missing.Stripped+missing.NoLines != "" && errors.As(err, &there) {
			lacking = path + ", which " + filepath.Base(command[0]) + " starts, lacks it, too"
			if there.Hint() != "" {
				lacking += "; " + there.Hint()
			}
		}
	}
	return lacking
}

// meansStarted reports whether a module part means a program that COMMAND starts. It is the main program of its process
// then, which any name of that stands for.
func meansStarted(module, path string) bool {
	return module == "" || module == place.MainProgram || place.MatchModule(module, path)
}

// maxStartable limits the programs that are examined: a command line may name thousands of files.
const maxStartable = 8

// startable returns the program files that a command's arguments name, also within text for a shell, without the
// command itself.
func startable(command []string) (paths []string) {
	if len(command) == 0 {
		return nil
	}
	self, _ := exec.LookPath(command[0])
	for _, argument := range command[1:] {
		words := strings.FieldsFunc(argument, func(r rune) bool { return strings.ContainsRune(" \t\n;|&()<>'\"`$", r) })
		for _, word := range words {
			path, err := exec.LookPath(word)
			if err != nil || !isProgram(path) || slices.Contains(paths, path) || path == self {
				continue
			}
			if paths = append(paths, path); len(paths) == maxStartable {
				return paths
			}
		}
	}
	return paths
}

// isProgram reports whether a path leads to a program file. Libraries are files of the same type, without an
// interpreter or the flag of position-independent programs.
func isProgram(path string) bool {
	if st, err := os.Stat(path); err != nil || !st.Mode().IsRegular() {
		return false
	}
	f, err := elf.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	if f.Type == elf.ET_EXEC || slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP }) {
		return true
	}
	flags, err := f.DynValue(elf.DT_FLAGS_1)
	return err == nil && len(flags) > 0 && elf.DynFlag1(flags[0])&elf.DF_1_PIE != 0
}

// entries are what names of the kernel's functions for system calls begin with.
var entries = []string{"__x64_sys_", "__ia32_sys_", "__arm64_sys_", "__se_sys_", "__do_sys_"}

// isKernelFunction reports whether the kernel has a function of a name. Short names of one word, as main, are as likely
// the program's.
func isKernelFunction(name string) bool {
	for _, prefix := range entries {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	if !strings.Contains(name, "_") {
		return false
	}
	symbols, err := os.ReadFile("/proc/kallsyms") // its names are for everybody, its addresses for root alone
	if err != nil {
		return false
	}
	for _, kind := range []string{" T ", " t "} {
		if bytes.Contains(symbols, []byte(kind+name+"\n")) {
			return true
		}
	}
	return false
}
