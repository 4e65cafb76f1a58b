package script

import (
	"io"
	"os"
	"strings"

	"github.com/dop251/goja"
	"golang.org/x/sys/unix"
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
	text, err := readRegular(s.pathArgument("readFile", call), limit)
	if err != nil {
		return goja.Undefined()
	}
	return s.vm.ToValue(strings.ToValidUTF8(string(text), "�"))
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
	to, err := os.Readlink(s.pathArgument("readLink", call))
	if err != nil {
		return goja.Undefined()
	}
	return s.vm.ToValue(to)
}

// jsReadDir is readDir(path).
func (s *Script) jsReadDir(call goja.FunctionCall) goja.Value {
	entries, err := os.ReadDir(s.pathArgument("readDir", call))
	if err != nil {
		return goja.Undefined()
	}
	names := make([]any, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return s.vm.NewArray(names...)
}

// jsEnv is env(name).
func (s *Script) jsEnv(call goja.FunctionCall) goja.Value {
	value, ok := os.LookupEnv(call.Argument(0).String())
	if !ok {
		return goja.Undefined()
	}
	return s.vm.ToValue(value)
}

// jsNow is now(): the clock of c.time.
func (s *Script) jsNow(goja.FunctionCall) goja.Value {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		s.throwf("cannot read the clock: %v", err)
	}
	return s.integer(ts.Nano())
}

// jsColumns is columns().
func (s *Script) jsColumns(goja.FunctionCall) goja.Value {
	if s.opts.Columns == nil {
		return s.vm.ToValue(0)
	}
	return s.vm.ToValue(s.opts.Columns())
}
