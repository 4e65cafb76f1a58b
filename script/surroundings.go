package script

import (
	"io"
	"os"
	"strings"

	"github.com/dop251/goja"
	"golang.org/x/sys/unix"

	"gotap/compile/diag"
)

// What scripts can ask of the machine gotap runs on. All of it reads, and nothing of it can block: a file that is not a regular
// one (a pipe, a terminal) is not opened. What cannot be read is undefined, since a process may end between two calls.

// maxFile is how much readFile gives without a limit: the longest files of /proc that scripts look at are a few hundred KB.
const maxFile = 1 << 20

// jsReadFile is readFile(path, limit?).
func (s *Script) jsReadFile(call goja.FunctionCall) goja.Value {
	limit := int64(maxFile)
	if v := call.Argument(1); !goja.IsUndefined(v) {
		limit = min(max(v.ToInteger(), 0), maxFile)
	}
	path := s.pathArgument("readFile", call)
	return s.seen("file "+path, func() (string, error) {
		text, err := readRegular(path, limit)
		return strings.ToValidUTF8(string(text), "�"), err
	})
}

// seen is something of this machine that may not be there; it is undefined then.
func (s *Script) seen(question string, look func() (string, error)) goja.Value {
	text := ask(s, func() string { return question }, false, func() *string {
		text, err := look()
		if err != nil {
			return nil
		}
		return &text
	})
	if text == nil {
		return goja.Undefined()
	}
	return s.vm.ToValue(*text)
}

// readRegular reads the start of a regular file.
func readRegular(path string, limit int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, os.ErrInvalid
	}
	return io.ReadAll(io.LimitReader(f, limit))
}

// pathArgument is the path a function was called with.
func (s *Script) pathArgument(name string, call goja.FunctionCall) string {
	path := call.Argument(0)
	if !goja.IsString(path) || path.String() == "" {
		s.throwf("%s needs a path, not %s", name, describe(path))
	}
	return path.String()
}

// jsReadLink is readLink(path).
func (s *Script) jsReadLink(call goja.FunctionCall) goja.Value {
	path := s.pathArgument("readLink", call)
	return s.seen("link "+path, func() (string, error) { return os.Readlink(path) })
}

// jsReadDir is readDir(path).
func (s *Script) jsReadDir(call goja.FunctionCall) goja.Value {
	path := s.pathArgument("readDir", call)
	names := ask(s, func() string { return "folder " + path }, false, func() []string {
		entries, err := os.ReadDir(path)
		if err != nil {
			return nil
		}
		names := make([]string, len(entries))
		for i, e := range entries {
			names[i] = e.Name()
		}
		return names
	})
	if names == nil {
		return goja.Undefined()
	}
	list := make([]any, len(names))
	for i, name := range names {
		list[i] = name
	}
	return s.vm.NewArray(list...)
}

// jsEnv is env(name).
func (s *Script) jsEnv(call goja.FunctionCall) goja.Value {
	name := call.Argument(0).String()
	return s.seen("env "+name, func() (string, error) {
		value, ok := os.LookupEnv(name)
		if !ok {
			return "", os.ErrNotExist
		}
		return value, nil
	})
}

// jsNow is now(): the clock of c.time.
func (s *Script) jsNow(goja.FunctionCall) goja.Value {
	return s.integer(s.monotonic())
}

// monotonic is the clock of c.time.
func (s *Script) monotonic() int64 {
	return ask(s, func() string { return "now" }, false, func() int64 {
		var ts unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
			s.throwf("cannot read the clock: %v", err)
		}
		return ts.Nano()
	})
}

// jsColumns is columns(text?).
func (s *Script) jsColumns(call goja.FunctionCall) goja.Value {
	if text := call.Argument(0); !goja.IsUndefined(text) {
		return s.vm.ToValue(diag.Columns(text.String()))
	}
	if s.opts.Columns == nil {
		return s.vm.ToValue(0)
	}
	return s.vm.ToValue(s.opts.Columns())
}
