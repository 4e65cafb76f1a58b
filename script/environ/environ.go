package environ

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"github.com/dop251/goja"
	"golang.org/x/sys/unix"

	"gotap/compile/diag"
	"gotap/script/journal"
	"gotap/script/jsvm"
)

// Memory reads the memory of a process, stopped or running; it returns how many bytes could be read.
type Memory interface {
	ReadMemory(pid int, addr uint64, p []byte) int
}

// Environ answers the questions of one script.
type Environ struct {
	Memory Memory // nil: no memory can be read

	m       *jsvm.Machine
	world   *journal.World
	columns func() int
}

// New makes an Environ and gives the machine its clock and its random numbers. columns is the width of the terminal
// that output goes to; nil: there is none.
func New(m *jsvm.Machine, world *journal.World, columns func() int) *Environ {
	e := &Environ{m: m, world: world, columns: columns}
	m.VM.SetTimeSource(e.wall)
	m.VM.SetRandSource(e.random)
	return e
}

// maxFile is how much readFile returns without a limit: the longest files of /proc that scripts read have a few hundred
// KB.
const maxFile = 1 << 20

// ReadFile implements readFile(path, limit?).
func (e *Environ) ReadFile(call goja.FunctionCall) goja.Value {
	limit := int64(maxFile)
	if v := call.Argument(1); !goja.IsUndefined(v) {
		limit = min(max(v.ToInteger(), 0), maxFile)
	}
	path := e.pathArgument("readFile", call)
	return e.optional("file "+path, func() (string, error) {
		text, err := readRegular(path, limit)
		return strings.ToValidUTF8(string(text), "�"), err
	})
}

// optional returns the answer to a question; undefined when there is none.
func (e *Environ) optional(question string, look func() (string, error)) goja.Value {
	text := journal.Ask(e.world, func() string { return question }, false, func() *string {
		text, err := look()
		if err != nil {
			return nil
		}
		return &text
	})
	if text == nil {
		return goja.Undefined()
	}
	return e.m.VM.ToValue(*text)
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

// pathArgument returns the path a function was called with.
func (e *Environ) pathArgument(name string, call goja.FunctionCall) string {
	path := call.Argument(0)
	if !goja.IsString(path) || path.String() == "" {
		e.m.Throwf("%s needs a path, not %s", name, jsvm.Describe(path))
	}
	return path.String()
}

// ReadLink implements readLink(path).
func (e *Environ) ReadLink(call goja.FunctionCall) goja.Value {
	path := e.pathArgument("readLink", call)
	return e.optional("link "+path, func() (string, error) { return os.Readlink(path) })
}

// ReadDir implements readDir(path).
func (e *Environ) ReadDir(call goja.FunctionCall) goja.Value {
	path := e.pathArgument("readDir", call)
	names := journal.Ask(e.world, func() string { return "folder " + path }, false, func() []string {
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
	return e.m.Strings(names)
}

// Env implements env(name).
func (e *Environ) Env(call goja.FunctionCall) goja.Value {
	name := call.Argument(0).String()
	return e.optional("env "+name, func() (string, error) {
		value, ok := os.LookupEnv(name)
		if !ok {
			return "", os.ErrNotExist
		}
		return value, nil
	})
}

// Now implements now(): the clock of c.time.
func (e *Environ) Now(goja.FunctionCall) goja.Value {
	return e.m.Integer(e.Monotonic())
}

// Monotonic returns the clock of c.time.
func (e *Environ) Monotonic() int64 {
	return journal.Ask(e.world, func() string { return "now" }, false, func() int64 {
		var ts unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
			e.m.Throwf("cannot read the clock: %v", err)
		}
		return ts.Nano()
	})
}

// Columns implements columns(text?).
func (e *Environ) Columns(call goja.FunctionCall) goja.Value {
	if text := call.Argument(0); !goja.IsUndefined(text) {
		return e.m.VM.ToValue(diag.Columns(text.String()))
	}
	if e.columns == nil {
		return e.m.VM.ToValue(0)
	}
	return e.m.VM.ToValue(e.columns())
}

// wall returns the time of new Date and Date.now: the present where a recording has none.
func (e *Environ) wall() time.Time {
	ns := journal.Ask(e.world, func() string { return "clock" }, false, func() int64 { return time.Now().UnixNano() })
	if ns == 0 {
		return time.Now()
	}
	return time.Unix(0, ns)
}

// random is Math.random.
func (e *Environ) random() float64 {
	return journal.Ask(e.world, func() string { return "random" }, false, rand.Float64)
}

// maxMemory is how many bytes memory() reads at once.
const maxMemory = 1 << 20

// ReadMemory implements memory(pid, address, size); in an exit callback memory(address, size).
func (e *Environ) ReadMemory(call goja.FunctionCall) goja.Value {
	args := call.Arguments
	if len(args) == 2 && e.m.Pid != 0 {
		args = append([]goja.Value{e.m.VM.ToValue(e.m.Pid)}, args...)
	}
	var words [3]int64
	for i := range words {
		n, ok := int64(0), i < len(args)
		if ok {
			n, ok = jsvm.ToInt(args[i])
		}
		if !ok {
			e.m.Throwf("memory needs a pid, an address and a size")
		}
		words[i] = n
	}
	if words[2] < 0 || words[2] > maxMemory {
		e.m.Throwf("memory reads at most %d bytes at once", maxMemory)
	}
	question := func() string { return fmt.Sprintf("memory %d %x %d", words[0], uint64(words[1]), words[2]) }
	return e.m.Bytes(string(journal.Ask(e.world, question, false, func() []byte {
		raw := make([]byte, words[2])
		if e.Memory == nil {
			return nil
		}
		return raw[:e.Memory.ReadMemory(int(words[0]), uint64(words[1]), raw)]
	})))
}
