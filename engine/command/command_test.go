package command

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"syscall"
	"testing"

	"gotap/engine/backend"
)

// TestFind compares with os/exec, which searches the same PATH.
func TestFind(t *testing.T) {
	for _, name := range []string{"sh", "ls", "/bin/sh"} {
		want, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Find(&backend.Command{Path: name}); err != nil || got != want {
			t.Errorf("%s is %q, %v, not %q", name, got, err, want)
		}
	}
	first, second, dir := t.TempDir(), t.TempDir(), t.TempDir()
	write(t, filepath.Join(first, "tool"), "", 0o644)
	write(t, filepath.Join(second, "tool"), "", 0o755)
	write(t, filepath.Join(dir, "here"), "", 0o755)
	write(t, filepath.Join(first, "locked"), "", 0o644)
	path := []string{"PATH=" + first + ":" + second}
	for _, c := range []struct {
		c    backend.Command
		want string
		err  error
	}{
		{backend.Command{Path: "tool", Env: path}, filepath.Join(second, "tool"), nil},
		{backend.Command{Path: "locked", Env: path}, "", os.ErrPermission},
		{backend.Command{Path: "missing", Env: path}, "", exec.ErrNotFound},
		{backend.Command{Path: "./here", Dir: dir}, "./here", nil},
		{backend.Command{Path: "./missing", Dir: dir}, "./missing", os.ErrNotExist},
		{backend.Command{Path: first}, first, os.ErrPermission},
	} {
		if got, err := Find(&c.c); got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s is %q, %v, not %q, %v", c.c.Path, got, err, c.want, c.err)
		}
	}
	if _, err := Find(&backend.Command{}); err == nil {
		t.Error("a command without a name was found")
	}
}

// TestAt: a relative path is one in the command's directory.
func TestAt(t *testing.T) {
	for _, c := range []struct{ dir, path, want string }{{"", "a", "a"}, {"/d", "a", "/d/a"}, {"/d", "/a", "/a"}} {
		if got := At(&backend.Command{Dir: c.dir}, c.path); got != c.want {
			t.Errorf("%s in %q is %s, not %s", c.path, c.dir, got, c.want)
		}
	}
}

// TestForkRefused: the file shows why the kernel does not run it.
func TestForkRefused(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/orphan", "#! /no/such/shell -x\n", 0o755)
	write(t, dir+"/broken", "\x7fELF and no more", 0o755)
	write(t, dir+"/foreign", foreignProgram(), 0o755)
	for _, c := range []struct {
		name, want string
		err        error
	}{
		{"orphan", "its interpreter /no/such/shell is not there", syscall.ENOENT}, {"broken", "a damaged program file", syscall.ENOEXEC},
		{"foreign", "a program for S390,", syscall.ENOEXEC}, {"missing", "no such file", syscall.ENOENT},
	} {
		pid, err := Fork(&backend.Command{Path: c.name, Dir: dir}, c.name, false)
		if !errors.Is(err, c.err) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s became process %d: %v, not %q", c.name, pid, err, c.want)
		}
	}
}

// TestFork: the child stops behind its exec, runs when it is let go, and has the files, directory and environment of
// the command. A file without "#!" runs in a shell.
func TestFork(t *testing.T) {
	goruntime.LockOSThread() // it traces the child
	defer goruntime.UnlockOSThread()
	dir := t.TempDir()
	write(t, dir+"/bare", "echo $1 $X; pwd", 0o755)
	out, err := os.Create(dir + "/out")
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	pid, err := Fork(&backend.Command{Path: "./bare", Args: []string{"bare", "one"}, Env: []string{"X=two"}, Dir: dir, Stdout: out}, "./bare", true)
	if err != nil {
		t.Fatal(err)
	}
	var ws syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &ws, syscall.WALL, nil); err != nil || !ws.Stopped() || ws.StopSignal() != syscall.SIGTRAP {
		t.Fatalf("the child did not stop behind its exec: %v, %#x", err, ws)
	}
	if err := syscall.PtraceDetach(pid); err != nil {
		t.Fatal(err)
	}
	if _, err := syscall.Wait4(pid, &ws, syscall.WALL, nil); err != nil || !ws.Exited() || ws.ExitStatus() != 0 {
		t.Fatalf("the child did not end: %v, %#x", err, ws)
	}
	got, err := os.ReadFile(dir + "/out")
	if want := "one two\n" + dir + "\n"; err != nil || string(got) != want {
		t.Errorf("%q, %v, not %q", got, err, want)
	}
}

func write(t *testing.T, file, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// foreignProgram is the header of a program for a machine that is none of ours.
func foreignProgram() string {
	var b bytes.Buffer
	h := elf.Header64{Type: uint16(elf.ET_EXEC), Machine: uint16(elf.EM_S390), Version: 1, Ehsize: 64}
	copy(h.Ident[:], elf.ELFMAG)
	h.Ident[elf.EI_CLASS], h.Ident[elf.EI_DATA], h.Ident[elf.EI_VERSION] = byte(elf.ELFCLASS64), byte(elf.ELFDATA2MSB), 1
	binary.Write(&b, binary.BigEndian, h)
	return b.String()
}
