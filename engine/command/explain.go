package command

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
)

// unstartable explains an error of execve further if the file itself shows the cause: the kernel reports "no such file"
// for an existing file whose interpreter or loader is missing.
func unstartable(file string, err error) error {
	switch {
	case errors.Is(err, syscall.ENOEXEC):
		if f, bad := elf.Open(file); bad == nil {
			defer f.Close()
			return fmt.Errorf("it is a program for %s, which this machine does not run: %w", strings.TrimPrefix(f.Machine.String(), "EM_"), err)
		}
		return fmt.Errorf("it is a damaged program file: %w", err)
	case errors.Is(err, syscall.ENOENT):
		if name := interpreter(file); name != "" {
			return fmt.Errorf("its interpreter %s is not there: %w", name, err)
		}
	}
	return err
}

func isELF(file string) bool { return strings.HasPrefix(head(file), elf.ELFMAG) }

// interpreter returns what the kernel runs a file with: the program in a script's first line, or the loader that a
// program names. It returns "" if there is none, or if it exists.
func interpreter(file string) string {
	var name string
	if line, ok := strings.CutPrefix(head(file), "#!"); ok {
		line, _, _ = strings.Cut(line, "\n")
		if words := strings.Fields(line); len(words) > 0 {
			name = words[0]
		}
	} else if f, err := elf.Open(file); err == nil {
		defer f.Close()
		for _, p := range f.Progs {
			if p.Type == elf.PT_INTERP && p.Filesz < 4096 {
				text, _ := io.ReadAll(p.Open())
				name = strings.TrimRight(string(text), "\x00")
			}
		}
	}
	if _, err := os.Stat(name); err == nil {
		return ""
	}
	return name
}

// head returns the beginning of a file, as much as the kernel reads to determine its kind.
func head(file string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	text, _ := io.ReadAll(io.LimitReader(f, 256))
	return string(text)
}
