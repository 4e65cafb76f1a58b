package engine

import (
	"errors"
	"os"
	"strings"
	"testing"
)

// TestRefusedCommands: an error of package command becomes a LaunchError that names the command.
func TestRefusedCommands(t *testing.T) {
	w := newWorld(t, Config{})
	dir := t.TempDir()
	os.WriteFile(dir+"/plain", []byte("echo hello\n"), 0o644)
	os.WriteFile(dir+"/orphan", []byte("#! /no/such/shell -x\n"), 0o755)
	for _, c := range []struct{ path, want string }{
		{"no-such-command-anywhere", "not found"}, {dir + "/nothing", "no such file"}, {dir + "/plain", "not executable"}, {dir, "directory"},
		{dir + "/orphan", "its interpreter /no/such/shell is not there"},
	} {
		_, err := w.Launch(Command{Path: c.path})
		var le *LaunchError
		if !errors.As(err, &le) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.path) {
			t.Errorf("launch of %s: %v, not %q", c.path, err, c.want)
		}
	}
}

func TestScriptsRunAsCommands(t *testing.T) {
	program(t, "target.c")
	dir := t.TempDir()
	for name, text := range map[string]string{"marked": "#!/bin/sh\necho $1 $0", "bare": "echo $1 $0"} {
		os.WriteFile(dir+"/"+name, []byte(text), 0o755)
		w := newWorld(t, Config{Follow: FollowChildren})
		tg := w.launch(dir+"/"+name, "hello")
		n := w.counter()
		w.probe("libc:write", Handlers{Enter: w.counts(n)})
		w.run()
		want(t, "output", tg.output(), "hello "+dir+"/"+name+"\n")
		want(t, "writes", n.get(), 1)
	}
}
