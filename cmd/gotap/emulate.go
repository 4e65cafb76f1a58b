package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	goruntime "runtime"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"gotap/arch"
	"gotap/arch/arm"
	"gotap/arch/arm64"
	"gotap/arch/x86"
)

// instructionSet is what emulate needs to know of an architecture besides arch.Arch.
type instructionSet struct {
	arch.Arch
	names  []string // of the registers that are printed, in their order
	status string   // the status register, which "cpsr" sets
	outer  bool     // the answer has it besides "regs", as "cpsr"
	set    uint64   // bits that the status register always has
	clear  uint64   // and that it never has
	exec   func(in arch.Insn, regs *arch.Regs, v *arch.Vectors, mem arch.Memory) error
}

// thumbState is the T bit of the CPSR.
const thumbState = 1 << 5

// instructionSets are the ones that `--arch` names.
var instructionSets = map[string]*instructionSet{
	"arm":    {Arch: arm.A32, names: numbered("r", 15), status: "cpsr", outer: true, clear: thumbState, exec: arm.Exec},
	"thumb":  {Arch: arm.Thumb, names: numbered("r", 15), status: "cpsr", outer: true, set: thumbState, exec: arm.Exec},
	"arm64":  {Arch: arm64.A64, names: append(numbered("x", 31), "sp", "nzcv"), status: "nzcv", exec: arm64.Exec},
	"x86-64": {Arch: x86.New64(), names: x86Names("rax rbx rcx rdx rsi rdi rbp rsp", 16), status: "eflags", exec: execX86(x86.New64())},
	"ia32":   {Arch: x86.New32(), names: x86Names("eax ebx ecx edx esi edi ebp esp", 8), status: "eflags", exec: execX86(x86.New32())},
}

func numbered(prefix string, n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprint(prefix, i))
	}
	return names
}

func x86Names(first string, n int) []string {
	names := strings.Fields(first)
	for i := 8; i < n; i++ {
		names = append(names, fmt.Sprint("r", i))
	}
	return append(names, "eflags")
}

// execX86 executes an instruction that can be emulated; all others are stepped by the processor, which is not at hand here.
func execX86(a arch.Arch) func(arch.Insn, *arch.Regs, *arch.Vectors, arch.Memory) error {
	return func(in arch.Insn, regs *arch.Regs, _ *arch.Vectors, mem arch.Memory) error {
		site, err := a.Prepare(in)
		if err != nil {
			return err
		}
		if !site.Allowed(arch.Emulated) {
			return &arch.RefusedError{Addr: in.Addr, Reason: "not emulated: the processor steps it"}
		}
		return site.Emulate(regs, mem)
	}
}

func newEmulate(w *World) *cobra.Command {
	var name string
	c := &cobra.Command{
		Use:   "emulate --arch NAME",
		Short: "Execute single instructions that standard input describes",
		Long: `emulate reads one JSON object a line,

  {"hex":"0100a0e1","pc":4096,"regs":{"r1":7},"cpsr":16,"mem":[{"addr":8192,"hex":"00ff"},{"addr":12288,"len":64}]}

executes that one instruction as gotap completes it at a probe, and writes a line for each: all registers, and the bytes of memory
that changed,

  {"pc":4100,"regs":{"r0":7,"r1":7,…},"cpsr":16,"mem":[]}

or {"unsupported":"why"}, or {"fault":{"addr":N,"write":false}}. Bytes are in memory order; "len" stands for that many zero bytes; of
entries that lie over each other the last one counts. All other memory faults. The instruction's own bytes can be read; where memory lies
at pc, they are what it holds, and can be written too. Registers that are not given are zero; numbers may also be strings, "0xff". A register that is
given by another name, such as "lr", is printed by that name too. Empty lines are skipped, and members of other names. A line that describes no state has
{"error":"line N: …"} for an answer; the others are answered all the same, and the exit status is 1.

--arch arm and thumb have r0 to r14, and the CPSR, whose T bit is what --arch says. arm64 has x0 to x30, sp, and the flags as "nzcv", in bits
31 to 28. Those of x86 are "eflags". Where the flags are none of "regs", "cpsr" is taken for them. Vector registers are strings of hexadecimal digits in memory order: d0 to d31 with "fpscr" for arm and thumb, v0 to v31 with "fpcr"
and "fpsr" for arm64; they are printed when one of them was given or changed, as far as they are not zero. Registers of the system that a process can
read have to be given for that: "tpidruro", and for arm64 "tpidr_el0", "tpidrro_el0", "ctr_el0", "dczid_el0", "cntvct_el0" and the like.

Unsupported are what probes refuse: unpredictable, undefined and privileged encodings, system calls and breakpoints, other coprocessors, SETEND; of arm64 SVE,
SME, memory tags, memory copies and pointer authentication of data (pacga). Other pointer authentication does what it does where it is off. A store-exclusive alone
fails, as the monitor is clear. On x86 an instruction that the processor would step is unsupported, which all of x87, MMX, SSE and AVX are: there are no vector
registers. Flags that an x86 instruction leaves undefined are those of AMD's processors.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, args []string) error {
			set := instructionSets[name]
			if set == nil {
				return withStatus(statusUsage, fmt.Errorf("--arch %q is none of arm, thumb, arm64, x86-64, ia32", name))
			}
			return withStatus(statusFailure, emulateLines(set, w.Stdin, w.Stdout))
		},
	}
	c.Flags().StringVar(&name, "arch", "", "arm, thumb, arm64, x86-64 or ia32")
	return c
}

// emulateBatch is how many lines are worked on at a time at most.
const emulateBatch = 1024

// emulateLines answers every line of in, in order. What has been read is answered before more is waited for, so that another
// program can talk to this one line by line.
func emulateLines(set *instructionSet, in io.Reader, out io.Writer) error {
	r, w := bufio.NewReaderSize(in, 1<<20), bufio.NewWriter(out)
	first, bad := 1, 0
	for {
		lines, end := readBatch(r)
		answers, wrong := answerAll(set, lines, first)
		first, bad = first+len(lines), bad+wrong
		for _, a := range answers {
			w.Write(a)
		}
		if err := w.Flush(); err != nil {
			return fmt.Errorf("cannot write the results: %w", err)
		}
		if end == io.EOF {
			break
		} else if end != nil {
			return fmt.Errorf("cannot read the instructions: %w", end)
		}
	}
	if bad > 0 {
		return fmt.Errorf("%d of %d lines describe no state; their answers say why", bad, first-1)
	}
	return nil
}

// readBatch waits for a line, and takes as many more as have already come. Empty ones are among them, as errors tell the number of a line.
func readBatch(r *bufio.Reader) (lines [][]byte, err error) {
	for len(lines) < emulateBatch {
		line, err := r.ReadBytes('\n')
		if len(line) > 0 {
			lines = append(lines, line)
		}
		if err != nil {
			return lines, err
		}
		if rest, _ := r.Peek(r.Buffered()); !bytes.Contains(rest, []byte{'\n'}) {
			break
		}
	}
	return lines, nil
}

// answerAll answers lines, on all processors. There is no answer to an empty one.
func answerAll(set *instructionSet, lines [][]byte, first int) (answers [][]byte, bad int) {
	answers = make([][]byte, len(lines))
	workers := min(goruntime.GOMAXPROCS(0), (len(lines)+63)/64)
	wrong := make([]int, workers)
	var all sync.WaitGroup
	for k := range workers {
		all.Go(func() {
			var e emulation
			for i := k; i < len(lines); i += workers {
				if len(bytes.TrimSpace(lines[i])) == 0 {
					continue
				}
				var err error
				if answers[i], err = e.answer(set, lines[i]); err != nil {
					wrong[k]++
					answers[i] = fmt.Appendf(nil, `{"error":%s}`+"\n", quote(fmt.Sprintf("line %d: %v", first+i, err)))
				}
			}
		})
	}
	all.Wait()
	for _, n := range wrong {
		bad += n
	}
	return answers, bad
}

// quote is a string as JSON has it. What %q writes is not JSON where a line held bytes that are no characters.
func quote(s string) []byte {
	b, _ := json.Marshal(s) // a string has no error
	return b
}

// answer executes one instruction. An error is a line that describes no state.
func (e *emulation) answer(set *instructionSet, line []byte) ([]byte, error) {
	if err := e.read(set, line); err != nil {
		return nil, err
	}
	in, err := set.Decode(e.code, e.pc)
	if err == nil {
		err = set.exec(in, &e.regs, &e.vectors, &e.mem)
	}
	var fault *arch.FaultError
	switch {
	case err == nil:
		return e.state(set), nil
	case errors.As(err, &fault):
		return fmt.Appendf(nil, `{"fault":{"addr":%d,"write":%v}}`+"\n", fault.Addr, fault.Write), nil
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, fmt.Errorf("%d bytes are not a whole instruction", len(e.code))
	default:
		return fmt.Appendf(nil, `{"unsupported":%s}`+"\n", quote(reasonOf(err))), nil
	}
}

// reasonOf is why an instruction is not executed, without its address.
func reasonOf(err error) string {
	var refused *arch.RefusedError
	if errors.As(err, &refused) {
		return refused.Reason
	}
	return err.Error()
}
