// Package emulate executes single instructions that lines of JSON describe, by the code that completes them at probes:
// what "gotap emulate" does. It is there to be compared with processors and other emulators.
//
// A line is read into an emulation (line.go, state.go), whose memory is the pieces that the line gave and nothing else
// (windows.go); the instruction set (set.go) executes it, and what has changed is written. Lines are worked on by all
// processors, a batch at a time, and answered in their order.
package emulate

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	goruntime "runtime"
	"sync"

	"gotap/arch"
)

// batch is the maximum number of lines that are handled at a time.
const batch = 1024

// Run answers every line of in, in order, for the named instruction set ("arm", "thumb", "arm64", "x86-64", "ia32"). It
// answers what it has read before it waits for more, so that another program can use it line by line. The error is that
// of a stream, or the number of lines that described no state, after all have been answered.
func Run(name string, in io.Reader, out io.Writer) error {
	set := *instructionSets[name]
	r, w := bufio.NewReaderSize(in, 1<<20), bufio.NewWriter(out)
	first, bad := 1, 0
	for {
		lines, end := readBatch(r)
		set.learn(lines)
		answers, wrong := answerAll(&set, lines, first)
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

// readBatch waits for a line, and takes as many more as have arrived. Empty lines are included, because errors have
// line numbers.
func readBatch(r *bufio.Reader) (lines [][]byte, err error) {
	for len(lines) < batch {
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

// answerAll answers lines, on all processors. An empty line gets no answer.
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

// quote returns a string as JSON. What %q writes is not JSON for bytes that are not UTF-8.
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
		return fmt.Appendf(nil, `{"fault":{"addr":%d,"write":%v}}`+"\n", set.address(fault.Addr), fault.Write), nil
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
