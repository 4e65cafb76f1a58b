package bench

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"gotap/runtime"
	"gotap/runtime/arena"
	"gotap/runtime/opcode"
	"gotap/runtime/outcome"
	"gotap/runtime/record"
	"gotap/runtime/value"
	"gotap/script"
	"gotap/script/output"
)

// eventScript has a callback that does next to nothing, so that what is measured is the way there.
const eventScript = `let n = 0; probe("f", { enter(c) { exit({ i: c.arg0, size: c.pid }); }, exit(e) { n += e.size; } });`

// eventsAHit is how many events are delivered for each hit of a round of other parts, which take longer.
const eventsAHit = 50

// events measures small events from the commitment of a hit to the end of its callback, ring and wake-ups included, in
// time of the processor: with other work on the machine the rate by the clock means nothing.
func (b bench) events() error {
	arena, err := arena.New(arena.Options{})
	if err != nil {
		return err
	}
	defer arena.Close()
	s, list := script.Load(script.Options{Name: "bench", Text: eventScript, Arena: arena, Output: output.NewText(io.Discard, b.errs)})
	if err := list.Err(); err != nil {
		return err
	}
	defer s.Close()
	p := s.Probes()[0]
	id := arena.Register(record.Program{Name: "bench", Formats: eventFormats()})
	s.Start()
	count := eventsAHit * b.o.Hits
	began, before := time.Now(), cpuTime()
	var hit record.Log
	machine, code := runtime.NewMachine(arena), eventCode(id)
	ctx := &runtime.Context{Word: 8}
	for range count {
		hit.Reset()
		machine.Run(code, ctx, &hit)
		for !arena.Commit(record.Header{Program: id, Probe: p.ID}, &hit) {
			time.Sleep(time.Millisecond) // the ring is full: what was refused is tried again
		}
	}
	s.End()
	each := (cpuTime() - before) / time.Duration(count)
	fmt.Fprintf(b.out, "%-42s %9d ns of processor: %d thousand a second on one core, %d by the clock\n", "small event to a callback",
		each.Nanoseconds(), int64(time.Second/each)/1000, int64(float64(count)/time.Since(began).Seconds())/1000)
	return nil
}

// eventFormats and eventCode are the compiled program of the script, with constants for the target's values.
func eventFormats() []record.Format {
	return []record.Format{{Kind: record.ItemEvent, Fields: []record.Field{
		{Name: "i", Kind: value.KindInt}, {Name: "size", Kind: value.KindInt, Part: 1}}}}
}

func eventCode(id uint32) *runtime.Code {
	return &runtime.Code{ID: id, Stack: 1, Insts: []runtime.Inst{
		{Op: opcode.Item}, {Op: opcode.PushD, V: 1}, {Op: opcode.LogInt}, {Op: opcode.PushD, V: 2}, {Op: opcode.LogInt},
		{Op: opcode.EndItem}, {Op: opcode.Exit, A: uint32(outcome.ExitEvent)},
	}}
}

// coldStarts is how many runs the median of the start is of, in three rounds or more.
const coldStarts = 11

// coldStart measures gotap run -e from its start to its end, with a script and a program that do nothing.
func (b bench) coldStart() error {
	var clock, processor []float64
	for range min(coldStarts, 4*b.o.Rounds-1) {
		cmd := exec.Command(b.exe, "run", "-q", "-e", "begin(() => {})", "--", "/bin/true")
		cmd.Stderr = os.Stderr
		began := time.Now()
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("cannot measure the start: %w", err)
		}
		clock = append(clock, time.Since(began).Seconds()*1e3)
		processor = append(processor, (cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()).Seconds()*1e3)
	}
	fmt.Fprintf(b.out, "%-42s %9.0f ms, %.0f ms of processor\n", "gotap run -e, start to end", median(clock), median(processor))
	return nil
}
