package gotap

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"gotap/compile/diag"
	"gotap/engine/link"
	"gotap/runtime/arena"
	"gotap/runtime/facility"
	"gotap/script"
	"gotap/script/output"
	"gotap/stdlib"
)

// A Session runs a script on its targets. See the package's documentation for the order of calls and for what is safe
// for concurrent use.
type Session struct {
	opts    Options
	text    Script
	ctx     context.Context
	arena   *arena.Arena
	engine  tracing
	tracer  *tracer
	current atomic.Pointer[script.Script] // Replace exchanges it
	said    *output.Held                  // what the script prints, held back until its probes are armed

	facilities  *facility.Table
	definitions definitions // empty when the text is a script
	ends        ends
	launched    int // process number of COMMAND, 0 when there is none
	outcomes    outcomes
	forks       atomic.Int32 // children that targets have made
	changes     changes      // what programs changed in targets
	notices     *notices
	progress    phase

	control  Control
	leftOut  []leftOut   // probes that were not placed; guarded by control.mu once the session has started
	detached atomic.Bool // the budget could not be kept
}

// ends are the reasons for which a session ends.
type ends struct {
	stopping chan struct{} // closed by Stop
	quit     chan struct{} // closed when no more probes are placed: the context is done, or the session ends
	over     chan struct{} // closed by the end of COMMAND
	stuck    chan struct{} // closed when the script cannot be interrupted

	stop, placing, command, wedge sync.Once // close them
	stuckErr                      error     // set before stuck is closed

	asked   atomic.Bool // COMMAND has been asked to end
	leave   atomic.Bool // COMMAND goes on after the session
	stopped bool        // Close has run
}

// phase is how far Arm has come.
type phase struct {
	early       bool  // the begin callbacks ran before the probes were armed
	running     bool  // the host runs
	started     bool  // the targets run
	interrupted bool  // the session ended while probes were placed
	err         error // of Arm
}

// Open loads and compiles a script. The session ends when the context is done; it has to be closed.
func Open(ctx context.Context, text Script, o Options) (*Session, error) {
	s := &Session{opts: o.withDefaults(), text: text, ctx: ctx, notices: newNotices(), facilities: facility.NewTable()}
	s.ends.stopping, s.ends.quit = make(chan struct{}), make(chan struct{})
	s.ends.over, s.ends.stuck = make(chan struct{}), make(chan struct{})
	s.control.s, s.control.guests.s = s, s
	if err := s.load(); err != nil {
		s.notices.flush()
		closing{s}.free()
		return nil, err
	}
	context.AfterFunc(ctx, s.placeNoMore)
	return s, nil
}

// load prepares everything that needs no target.
func (s *Session) load() error {
	if err := s.opts.checkTarget(); err != nil {
		return failed(BadScript, err)
	}
	var err error
	if s.arena, err = arena.New(arena.Options{}); err != nil {
		return failed(Failure, err)
	}
	s.definitions.arena, s.definitions.output = s.arena, s.opts.Output
	s.said = output.NewHeld(s.opts.Output)
	s.said.Release()
	o := s.scriptOptions(s.text)
	o.Output = s.said
	loaded, list, err := s.loadScript(o)
	if err == nil {
		err = list.Err()
	}
	if err != nil {
		return atLeast(BadScript, err)
	}
	s.opts.Hooks.Warn(list)
	s.current.Store(loaded)
	s.opts.followScript(loaded.Following())
	if err := s.loadDefinition(); err != nil {
		return err
	}
	if s.engine, err = s.openEngine(); err != nil {
		return failed(BadTarget, err)
	}
	s.tracer = &tracer{engine: s.engine, linker: link.New(s.arena, s.opts.Hooks.Warn), stop: func(int) { s.Stop() }}
	loaded.SetTracer(s.tracer)
	return nil
}

// checkTarget refuses options that name no target, or targets of several kinds.
func (o *Options) checkTarget() error {
	n := 0
	for _, given := range []bool{len(o.Command) > 0, len(o.Pids) > 0, o.Remote != ""} {
		if given {
			n++
		}
	}
	switch {
	case n != 1:
		return errors.New("a session traces a command, processes or what a stub runs: one of Command, Pids and Remote is needed")
	case o.Remote != "" && o.Budget > 0:
		return errors.New("a target behind a stub has no budget: gotap cannot measure for how long it was stopped")
	case o.Remote != "" && o.Affinity != AffinityAuto:
		return errors.New("a target behind a stub has no affinity that gotap could leave alone")
	}
	return nil
}

// loadScript loads a script on a goroutine of its own, which is lost when the script's top level cannot be interrupted.
func (s *Session) loadScript(o script.Options) (*script.Script, diag.List, error) {
	type result struct {
		script *script.Script
		list   diag.List
	}
	done := make(chan result, 1)
	go func() {
		loaded, list := script.Load(o)
		done <- result{loaded, list}
	}()
	select {
	case r := <-done:
		return r.script, r.list, nil
	case <-s.ends.stuck:
		return nil, nil, s.ends.stuckErr
	}
}

// scriptOptions are for loading a script. In the place of a definition file there is Options.Beside, which may be
// empty: it has the host that a run needs.
func (s *Session) scriptOptions(text Script) script.Options {
	if text.isDefinition() {
		name := text.Name
		if text = s.opts.Beside; text.Name == "" {
			text.Name = name
		}
	}
	h := &s.opts.Hooks
	return script.Options{
		Name: text.Name, Text: text.Text, Dir: text.Dir, Std: stdlib.Files(), Args: s.opts.Args, Arena: s.arena, Unsafe: s.opts.Unsafe,
		Output: s.opts.Output, Own: h.Controls, Stuck: s.stuck, Others: s.record, Facilities: s.facilities, Columns: h.Columns,
		Journal: h.Journal, Keep: s.opts.Tool.Keep,
	}
}

// script returns the version of the script that runs.
func (s *Session) script() *script.Script { return s.current.Load() }

// Start lets the targets run. Output.Ready is called before they do.
func (s *Session) Start() error {
	s.progress.started = true
	s.ready()
	if s.script().Stopped() { // its top level called stop()
		s.Stop()
		s.endCommandEarly()
	}
	s.progress.err = failed(BadTarget, s.engine.Start())
	return s.progress.err
}

// ready begins the data.
func (s *Session) ready() {
	s.opts.Output.Ready()
	s.opts.Output.Flush()
}

// endCommandEarly ends COMMAND before its first instruction.
func (s *Session) endCommandEarly() {
	if s.launched != 0 && !s.ends.leave.Load() {
		s.ends.asked.Store(true)
		syscall.Kill(s.launched, syscall.SIGTERM)
	}
}

// Wait returns when the targets have ended, the script or Stop stops the session, or the context is done. None of these
// is an error.
func (s *Session) Wait() error {
	defer s.placeNoMore()
	select {
	case <-s.engine.Done():
		return failed(Failure, s.engine.Wait())
	case <-s.ends.over:
		s.awaitRest()
	case <-s.ends.stopping:
	case <-s.ends.quit:
	case <-s.ends.stuck:
		return s.ends.stuckErr
	}
	return nil
}

// restPatience is how long the session waits after COMMAND's end for processes that COMMAND started.
const restPatience = 100 * time.Millisecond

// awaitRest gives processes that COMMAND started a moment to end too. The others go on without probes.
func (s *Session) awaitRest() {
	select {
	case <-s.engine.Done():
		return
	case <-time.After(restPatience):
	}
	if n := len(s.engine.Pids()); n > 0 {
		s.note("the program has ended; %s that it started went on without probes", plural(n, "process"))
	}
}

// Stop ends the session: Wait returns. Safe for concurrent use.
func (s *Session) Stop() { s.ends.stop.Do(func() { close(s.ends.stopping) }) }

// placeNoMore ends the placing of probes, now and for the rest of the session. Safe for concurrent use.
func (s *Session) placeNoMore() { s.ends.placing.Do(func() { close(s.ends.quit) }) }

// placesNoMore reports whether the placing of probes is over.
func (s *Session) placesNoMore() bool {
	select {
	case <-s.ends.quit:
		return true
	default:
		return false
	}
}

// LeaveCommand has COMMAND go on when the session ends. Safe for concurrent use.
func (s *Session) LeaveCommand() { s.ends.leave.Store(true) }

// ListensToKeys reports whether a callback of the script listens to keys, which Key reports.
func (s *Session) ListensToKeys() bool { return s.script().Armed("key") }

// Key reports a key that the user has pressed, to the callbacks of on("key"): a character, or a name such as "up",
// "enter", "ctrl-a". It does not block.
func (s *Session) Key(key string) {
	var now unix.Timespec
	unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) // the clock of all events
	s.script().Lifecycle(script.Event{Kind: "key", Fields: map[string]any{"key": key, "time": uint64(now.Nano())}})
}

// PrintAll prints all aggregations as they are now. It does not block.
func (s *Session) PrintAll() { s.script().PrintAll(s.definitions.printVariables) }

// Pids returns the traced processes.
func (s *Session) Pids() []int { return s.engine.Pids() }

// ScriptOptions returns the options that the script declares.
func (s *Session) ScriptOptions() []script.Option { return s.script().Options() }

// Inputs returns the files that the session's script or definition file was made of.
func (s *Session) Inputs() []string {
	if files := s.definitions.Files(); s.text.isDefinition() && len(files) > 0 {
		return files[0].Inputs
	}
	return s.script().Inputs()
}

// stuck ends a session whose JavaScript cannot be interrupted: the targets come first. The script's watchdog calls it,
// also while the script is loaded.
func (s *Session) stuck(err error) {
	kind := Failure
	if s.engine == nil {
		kind = BadScript
	} else if cerr := s.engine.Close(true); cerr != nil {
		err = errors.Join(err, cerr)
	}
	err = failed(kind, err)
	if s.opts.Hooks.Stuck != nil {
		s.opts.Hooks.Stuck(err)
	}
	s.ends.wedge.Do(func() {
		s.ends.stuckErr = err
		close(s.ends.stuck)
	})
}

// wedged reports whether the script's goroutine is lost.
func (s *Session) wedged() bool {
	select {
	case <-s.ends.stuck:
		return true
	default:
		return false
	}
}

// note passes a line to the user. It is called on goroutines of the session's own, not on the tracing thread.
func (s *Session) note(format string, args ...any) { s.opts.Hooks.Note(fmt.Sprintf(format, args...)) }

// plural is "1 probe" or "2 probes".
func plural(n int, what string) string {
	switch {
	case n == 1:
		return "1 " + what
	case what == "process":
		return fmt.Sprintf("%d processes", n)
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// diagnosticsOf returns an error as diagnostics: its own, or one with its text.
func diagnosticsOf(err error) diag.List {
	var list diag.List
	if errors.As(err, &list) {
		return slices.Clone(list)
	}
	return diag.List{{Text: err.Error(), Hint: hintOf(err)}}
}
