package arm64

import (
	"encoding/binary"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gotap/engine/testenv"
	"gotap/engine/testenv/fixture"
)

// Where testdata/runner.c has what native code uses.
const (
	arenaAddr  = 0x10000000
	codeAddr   = 0x20000000
	leaveAddr  = 0x20100000
	stackTop   = 0x40008000
	otherStack = 0x41008000
	dataAddr   = 0x50000000
	pageSize   = 4096
	frameWords = 512
	testPid    = 4711
	testTid    = 4712
	testTime   = 0x123_4567_89ab_cdef
	testPlace  = 0x5555_5555_4321
)

// stackArgs are the words at stackTop.
var stackArgs = [2]uint64{0x1122334455667788, 0x99aabbccddeeff00}

// runner is testdata/runner.c in an emulated processor.
type runner struct {
	t       *testing.T
	to      io.WriteCloser
	from    io.Reader
	data    uint64     // the address of its thread's own data
	vectors vectorFile // as next has found it

	stuck *time.Timer // kills it
}

// patience is how long one case may take.
const patience = time.Minute

// startRunner starts the runner on an arena.
func startRunner(t *testing.T, fd int) *runner {
	t.Helper()
	file := filepath.Join(t.TempDir(), "runner")
	if out, err := fixture.Command(string(testenv.GCCARM64), "-O2", "-static", "-o", file, "testdata/runner.c", "testdata/runner.S").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	own, err := unix.Dup(fd)
	if err != nil {
		t.Fatal(err)
	}
	arena := os.NewFile(uintptr(own), "arena")
	defer arena.Close()
	cmd := exec.Command(string(testenv.QEMUARM64), "-cpu", "max", file)
	cmd.ExtraFiles = []*os.File{arena}
	r := &runner{t: t}
	if r.to, err = cmd.StdinPipe(); err == nil {
		r.from, err = cmd.StdoutPipe()
	}
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	r.stuck = time.AfterFunc(patience, func() { cmd.Process.Kill() })
	t.Cleanup(func() {
		r.stuck.Stop()
		r.to.Close()
		cmd.Wait()
	})
	r.put(uint64(arenaSize))
	r.get(&r.data)
	return r
}

func (r *runner) put(v ...any) {
	var all []byte
	for _, v := range v {
		all, _ = binary.Append(all, binary.LittleEndian, v)
	}
	if _, err := r.to.Write(all); err != nil {
		r.t.Fatalf("the runner: %v", err)
	}
}

func (r *runner) get(v any) {
	if err := binary.Read(r.from, binary.LittleEndian, v); err != nil {
		r.t.Fatalf("the runner: %v", err)
	}
}

// vectorFile is the floating-point state: v0 to v31, of which each is two words, FPCR and FPSR.
type vectorFile [2*32 + 2]uint64

// start runs code with registers. If scalable is set, all bits of all vectors have to be as before at the end.
func (r *runner) start(code []byte, regs *regFile, vectors *vectorFile, scalable bool) {
	r.put(regs[:31], regs[filePState], regs[fileSP], vectors, scalable, [7]byte{}, uint64(len(code)), code)
}

// next waits until the code has ended or stopped at a breakpoint. The floating-point state is in vectors then.
func (r *runner) next() (stopped bool, regs regFile, frame []uint64) {
	var tag uint64
	r.stuck.Reset(patience)
	r.get(&tag)
	r.get(&regs)
	r.get(&r.vectors)
	regs[filePState] &= conditionFlags
	switch tag {
	case 0:
		return false, regs, nil
	case 2:
		r.t.Error("scalable vectors have lost bits")
		return false, regs, nil
	}
	frame = make([]uint64, frameWords)
	r.get(frame)
	return true, regs, frame
}

// leave is the tail of stubs here: a branch to where the runner takes the registers.
func leave(at uint64) ([]byte, error) {
	return binary.LittleEndian.AppendUint32(nil, 0x14000000|uint32(int64(leaveAddr-at)/4)&0x3ffffff), nil
}
