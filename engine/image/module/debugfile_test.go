package module

import (
	"bytes"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"gotap/engine/testenv"
)

// split strips a program and returns it with its debug information in a file of its own.
func split(t *testing.T) (bare, debug string) {
	t.Helper()
	testenv.Require(t, testenv.GCC, testenv.Objcopy)
	whole := build(t, "gcc", "-O2", "-g", "-Wl,--build-id", "names.c", "names2.c")
	dir := t.TempDir()
	bare, debug = filepath.Join(dir, "prog"), filepath.Join(dir, "prog.debug")
	command(t, "objcopy", "--only-keep-debug", whole, debug)
	command(t, "strip", "-o", bare, whole)
	return bare, debug
}

// link adds a debug link, which names the debug file and its checksum.
func link(t *testing.T, bare, debug string) {
	t.Helper()
	command(t, "objcopy", "--add-gnu-debuglink="+debug, bare)
}

func move(t *testing.T, from, to string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

func TestDebugFileByLink(t *testing.T) {
	for _, place := range []string{"prog.debug", ".debug/prog.debug"} {
		bare, debug := split(t)
		link(t, bare, debug)
		move(t, debug, filepath.Join(filepath.Dir(bare), place))
		f := open(t, bare)
		if len(f.Lookup("helper")) != 2 {
			t.Errorf("debug file at %s not found", place)
		}
		if d := f.Debug(); d == nil || d.ELF().Section(".debug_info") == nil {
			t.Errorf("debug file at %s has no debug information", place)
		}
	}
}

func TestDebugFileByBuildID(t *testing.T) {
	bare, debug := split(t)
	id := open(t, bare).BuildID
	if len(id) < 8 {
		t.Fatalf("build-id %q", id)
	}
	root := t.TempDir()
	move(t, debug, filepath.Join(root, debugRoot, ".build-id", id[:2], id[2:]+".debug"))
	f, err := openIn(root, bare, bare)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if len(f.Lookup("helper")) != 2 {
		t.Error("debug file below the root directory of the process not found")
	}
}

func TestDebugFileOfAnotherBuildIsNotUsed(t *testing.T) {
	bare, debug := split(t)
	link(t, bare, debug)
	h, err := os.OpenFile(debug, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	h.WriteString("changed")
	h.Close()
	if f := open(t, bare); f.Debug() != nil || len(f.Lookup("helper")) != 0 {
		t.Error("a debug file with another checksum is used")
	}
	link(t, bare, filepath.Join("testdata", "names.c")) // a link to what is no ELF file, missing beside the program
	if open(t, bare).Debug() != nil {
		t.Error("a debug file that is not there is used")
	}
}

// TestDebugFileIsAPipe puts a pipe where the debug file should be: opening it for reading waits for somebody who
// writes. Where debug files lie in a process's own file system, that is up to the process.
func TestDebugFileIsAPipe(t *testing.T) {
	bare, debug := split(t)
	link(t, bare, debug)
	if err := os.Remove(debug); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(filepath.Join(filepath.Dir(bare), filepath.Base(debug)), 0o600); err != nil {
		t.Fatal(err)
	}
	if d := open(t, bare).Debug(); d != nil {
		t.Errorf("a pipe is the debug file %s", d.Path)
	}
	if _, err := Open(filepath.Join(filepath.Dir(bare), filepath.Base(debug))); err == nil {
		t.Error("a pipe is a module")
	}
}

// TestDebugFileInCache puts the debug file where clients of debuginfod keep what they have fetched, in each place that
// the environment can name. A file of no bytes, or of another build, is not used.
func TestDebugFileInCache(t *testing.T) {
	bare, debug := split(t)
	id := open(t, bare).BuildID
	content, err := os.ReadFile(debug)
	if err != nil {
		t.Fatal(err)
	}
	other := bytes.Replace(content, mustHex(t, id), bytes.Repeat([]byte{1}, len(id)/2), 1)
	for _, c := range []struct{ variable, below string }{
		{"DEBUGINFOD_CACHE_PATH", ""}, {"XDG_CACHE_HOME", "debuginfod_client"}, {"HOME", ".cache/debuginfod_client"}, {"HOME", ".debuginfod_client_cache"},
	} {
		dir := t.TempDir()
		for _, v := range []string{"DEBUGINFOD_CACHE_PATH", "XDG_CACHE_HOME", "HOME"} {
			t.Setenv(v, "")
		}
		t.Setenv(c.variable, dir)
		path := filepath.Join(dir, c.below, id, "debuginfo")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		for _, v := range []struct {
			content []byte
			used    bool
		}{{nil, false}, {other, false}, {content, true}} {
			if err := os.WriteFile(path, v.content, 0o600); err != nil {
				t.Fatal(err)
			}
			f := open(t, bare)
			if used := f.Debug() != nil; used != v.used {
				t.Errorf("%s: a debug file of %d bytes at %s is used: %v", c.variable, len(v.content), c.below, used)
			}
			if found := len(f.Lookup("helper")) == 2; found != v.used {
				t.Errorf("%s: names of the debug file at %s are found: %v", c.variable, c.below, found)
			}
		}
	}
}

func mustHex(t *testing.T, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
