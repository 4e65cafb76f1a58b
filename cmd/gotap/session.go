package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"gotap/compile/diag"
	"gotap/engine"
	"gotap/runtime"
	"gotap/runtime/facility"
	"gotap/script"
	"gotap/script/output"
	"gotap/stdlib"
)

// A run is one session: a script, the targets, and what comes out. It belongs to the goroutine that runs it; only stop,
// lifecycle and warn are called by others.
type run struct {
	w       *World
	plan    *plan
	out     output.Sink
	logs    output.Fanout // of out, the targets of --log
	arena   *runtime.Arena
	current atomic.Pointer[script.Script] // --watch exchanges it
	text    scriptText
	said    *output.Held // what the script says; held back until its probes are armed
	early   bool         // the script runs already, though its probes are not armed
	session session
	tracer  *tracer

	facilities  *facility.Table
	definitions definitions // besides the script, which is empty when one of these is what runs

	launched int // process number of COMMAND, 0 when there is none
	demo     bool
	stopping chan struct{} // closed by the first stop(n)
	quit     chan struct{} // closed when the run is to end: no more probes are placed
	quits    sync.Once     // closes it
	over     chan struct{} // closed by the end of COMMAND
	once     sync.Once     // closes it
	stopped  atomic.Bool
	detached atomic.Bool // the budget could not be kept
	orphaned atomic.Bool // the supervisor was killed
	cut      bool        // the run ended while its probes were placed
	asked    atomic.Bool // the user has asked gotap to end, or gotap has asked COMMAND
	outcomes outcomes
	forks    atomic.Int32 // children that targets have made
	deeds    deeds        // what programs changed in targets
	progress *progress
	notices  *notices
	watcher  *watcher // nil: the script is not watched

	change   sync.Mutex // held while the script or its probes are exchanged from outside: --watch, gotap ctl
	manager  *manager   // nil: no socket
	recorder *recorder  // nil: nothing is recorded
	leftOut  []leftOut  // probes that were not placed; guarded by change once the run has begun
}

// planned is a run of which nothing has been done yet.
func planned(w *World, p *plan) *run {
	r := &run{w: w, plan: p, stopping: make(chan struct{}), over: make(chan struct{}), quit: make(chan struct{})}
	r.progress, r.notices = r.newProgress(), newNotices()
	r.out, r.logs = p.sinks(w.Stderr)
	if len(r.logs) == 0 { // nobody gets what comes from now on
		p.sinkFile.Gone = func() { r.stop(0) }
	}
	r.facilities = facility.NewTable()
	return r
}

// run goes through a session: load, start the target, arm, trace, end.
func (r *run) run(text scriptText) error {
	status, err := r.phases(text)
	r.notices.flush()
	if err != nil {
		status = statusOf(err)
		r.complain(err)
	}
	r.tellOutcomes()
	return r.end(status)
}

// end writes the last of the data, and makes an error of a status that has been told.
func (r *run) end(status int) error {
	r.out.End(output.End{Status: status, Targets: r.outcomes.targets()})
	r.out.Flush()
	if werr := r.out.Err(); werr != nil && status == statusOK && !errors.Is(werr, syscall.EPIPE) {
		return withStatus(statusFailure, fmt.Errorf("cannot write the data: %w", werr))
	}
	if status != statusOK {
		return &statusError{status, nil} // it has been told
	}
	return nil
}

// script is the version of the script that runs.
func (r *run) script() *script.Script { return r.current.Load() }

// phases does the work of run and returns the status.
func (r *run) phases(text scriptText) (int, error) {
	control := newControl(r.w, &r.asked)
	defer r.dropRecording()
	if err := r.load(text); err != nil {
		return 0, err
	}
	defer r.close()
	if err := r.openWatch(text); err != nil {
		return 0, err
	}
	defer r.closeWatch()
	if err := r.begin(control); err != nil {
		if errors.Is(err, engine.ErrInterrupted) {
			return r.interrupted(), nil
		}
		if !r.endedEarly(err) {
			r.abandon()
		}
		return 0, err
	}
	if err := r.trace(control); err != nil {
		r.finish()
		return 0, err
	}
	return r.finish(), nil
}

// load prepares everything that needs no target.
func (r *run) load(text scriptText) error {
	var err error
	if r.arena, err = runtime.NewArena(runtime.ArenaOptions{}); err != nil {
		return withStatus(statusFailure, err)
	}
	r.text = text
	if err := r.startRecording(text); err != nil {
		return err
	}
	r.said = output.NewHeld(r.out)
	r.said.Release()
	options := r.options(text)
	options.Output = r.said
	loaded, list := script.Load(options)
	if err := list.Err(); err != nil {
		return withStatus(statusUsage, err)
	}
	r.warnings(list)
	r.current.Store(loaded)
	if err := r.loadDefinition(text); err != nil {
		return err
	}
	if r.plan.watch && !slices.ContainsFunc(r.inputs(), isFile) {
		return withStatus(statusUsage, fmt.Errorf("--watch: %s is no file that could change", text.name))
	}
	r.session, err = r.plan.open(r.w, engine.Config{
		Own: r.w.waiting(), Follow: r.plan.follow, Engine: r.plan.engine, MaxProbes: r.plan.maxSites, Unsafe: r.plan.unsafe, Arena: r.arena,
		Notify: r.lifecycle, Warn: r.warn, Dumped: r.dumped, Facilities: r.facilities,
		Budget: r.plan.share, Overloaded: r.overloaded, Changed: r.changed, Quit: r.quit,
		LateFallback: true, // the supervisor's death is what a user causes, and the session survives it
	})
	if err != nil {
		return withStatus(statusTarget, err)
	}
	r.tracer = newTracer(r.session, r.arena, r.stop)
	r.tracer.warn = r.warnings
	loaded.SetTracer(r.tracer)
	return nil
}

func isFile(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// warnings tells what is wrong without being an error; in JSON they are records. -q silences them.
func (r *run) warnings(list diag.List) {
	for _, d := range list {
		if r.plan.json && !r.plan.quiet {
			r.out.Error(d)
			continue
		}
		r.status("%s", d.String())
	}
}

// options are for loading a script. In the place of a definition file there is the one of --exits, or an empty one: it has the
// host that a run needs.
func (r *run) options(text scriptText) script.Options {
	if isDefinition(text) {
		name := text.name
		if text = r.plan.beside; text.name == "" {
			text.name = name
		}
	}
	return script.Options{
		Name: text.name, Text: text.text, Dir: text.dir, Std: stdlib.Files(), Args: r.plan.args,
		Arena: r.arena, Unsafe: r.plan.unsafe, Output: r.out, Own: &r.plan.own, Stuck: r.stuck, Others: r.record, Facilities: r.facilities,
		Columns: r.columns, Journal: r.journal(), Keep: r.plan.watch,
	}
}

// columns is the width of the terminal that data goes to, 0 when it is none.
func (r *run) columns() int { return columnsOf(r.plan.data) }

// begin starts or attaches the targets and arms the probes. Nothing of COMMAND but its loader has run when it returns.
func (r *run) begin(c control) error {
	defer r.attend(c)()
	r.progress.begin("reading programs and their symbols")
	defer r.progress.end()
	if err := r.targets(); err != nil {
		return withStatus(statusTarget, err)
	}
	if err := r.arm(); err != nil {
		return err
	}
	r.progress.end()
	r.startScript()
	if err := r.manage(); err != nil {
		return err
	}
	r.announce()
	r.plan.sayReady()
	if r.script().Stopped() { // at top level there was nobody to tell yet
		r.stop(0)
		if r.launched != 0 { // COMMAND ends before its first instruction
			r.asked.Store(true)
			syscall.Kill(r.launched, syscall.SIGTERM)
		}
	}
	if err := r.session.Start(); err != nil {
		return withStatus(statusTarget, err)
	}
	return r.leaveTerminal()
}

// announce begins the data.
func (r *run) announce() {
	r.plan.sinkFile.Clear()
	r.out.Ready()
	r.out.Flush()
}

func (r *run) targets() error {
	if r.plan.remote != "" { // connected is attached
		for _, pid := range r.session.Pids() {
			r.outcomes.expect(r.plan.remoteName(), pid)
		}
		return nil
	}
	for _, pid := range r.plan.pids {
		r.w.guard(guardProcess, pid)
		r.outcomes.expect("?", pid)
		if err := r.session.Attach(pid); err != nil {
			return err
		}
		r.outcomes.attached(pid)
	}
	if len(r.plan.pids) > 0 {
		return nil
	}
	c := engine.Command{Stdin: r.commandInput(), Stdout: r.w.Stdout, Stderr: r.w.Stderr}
	if len(r.plan.command) > 0 {
		c.Path, c.Args = r.plan.command[0], r.plan.command
	} else {
		lasts := cmp.Or(r.plan.duration, demoTime) // its end, or -T: what comes first is announced as the time
		path, argv, err := demoCommand(lasts)
		if err != nil {
			return err
		}
		r.demo = true
		c.Path, c.Args = path, argv
		r.note("no target: probing gotap's own demonstration for %v", lasts)
	}
	pid, err := r.session.Spawn(c)
	if r.launched = pid; err == nil {
		r.outcomes.expect(r.commandName(), pid)
	}
	return err
}

// trace waits for what ends the run: the targets, the user, the time, or the script.
func (r *run) trace(c control) error {
	var due <-chan time.Time
	if r.plan.duration > 0 {
		timer := time.NewTimer(r.plan.duration)
		defer timer.Stop()
		due = timer.C
	}
	if r.watcher != nil {
		defer r.startWatch()()
	}
	defer r.placeNoMore()
	for {
		select {
		case <-c.Dumps:
			r.script().PrintAll(r.printVariables)
			continue
		case <-r.session.Done():
			return withStatus(statusFailure, r.session.Wait())
		case <-r.over:
			r.awaitRest()
		case <-r.stopping:
		case <-r.quit: // since the probes were armed
		case <-due:
		case <-c.Gone:
			r.orphaned.Store(c.Orphaned.Load())
		case <-c.Interrupts:
			go r.hurry(c)
		}
		return nil
	}
}

// awaitRest gives processes that COMMAND started and that are still there a moment to end too: often they are about to. The others
// go on without probes.
func (r *run) awaitRest() {
	select {
	case <-r.session.Done():
		return
	case <-time.After(restPatience):
	}
	if n := len(r.session.Pids()); n > 0 {
		r.note("the program has ended; %s that it started went on without probes", plural(n, "process"))
	}
}

// restPatience is how long the run goes on after COMMAND while other processes are there.
const restPatience = 100 * time.Millisecond

// startWatch begins to reload the script as its files change; what it returns ends that, and returns when no reload is under way any more.
func (r *run) startWatch() (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		r.watch(r.watcher, done)
	}()
	return func() {
		close(done)
		<-ended
	}
}

// hurry is the second Ctrl-C: detach at once and go, whatever callbacks still want to do.
func (r *run) hurry(c control) {
	select {
	case <-c.Interrupts:
	case <-c.Gone:
	}
	clean := r.letGo()
	if r.launched != 0 && !c.Orphaned.Load() && !r.commandEnded() && !r.session.LeftStopped(r.launched) {
		syscall.Kill(r.launched, syscall.SIGTERM)
	}
	r.manager.unlink()
	if !clean {
		os.Exit(statusFailure)
	}
	os.Exit(statusOK)
}

// letGo lets the targets go in a hurry, and says what could not be undone in them; it reports whether everything was.
func (r *run) letGo() bool {
	if r.session == nil { // there is no target yet
		return true
	}
	err := r.session.Close(true)
	if err != nil {
		r.complain(withStatus(statusFailure, err))
		r.out.Flush()
	}
	return err == nil
}

// finish lets the targets go, runs end() and tells what is to be told. It returns the status.
func (r *run) finish() int {
	r.manager.close()
	r.progress.begin("taking the probes out")
	told := r.noteLater("still taking the probes out")
	err := r.session.Close(false)
	told()
	r.progress.end()
	states := r.session.Query() // hits that waited are dealt with as threads are let go, and count
	r.endCommand()
	told = r.noteLater("the probes are out; callbacks are still dealing with what was gathered")
	r.script().End()
	told()
	r.printVariables()
	r.tell(states)
	if err == nil && r.demo && !r.cut && r.script().Status() == 0 && r.sawNowhere(states) {
		r.complain(r.nothingToTrace())
		return statusNoProbe
	}
	err = errors.Join(err, r.endRecording())
	if err != nil {
		r.complain(withStatus(statusFailure, err))
		return statusFailure
	}
	return r.exitStatus()
}

// endPatience is how long a part of the end of a run goes on before that is told.
const endPatience = 2 * time.Second

// noteLater tells the user what is being done unless that is over soon, which what it returns says.
func (r *run) noteLater(text string) (over func()) {
	timer := time.AfterFunc(endPatience, func() { r.notices.post(func() { r.note("%s", text) }) })
	return func() { timer.Stop() }
}

// endCommand ends COMMAND with the run. It is asked, not forced: what it does then is its own business.
func (r *run) endCommand() {
	if r.launched == 0 {
		return
	}
	if r.detached.Load() { // the target comes first
		r.note("process %d goes on without probes", r.launched)
		return
	}
	if r.orphaned.Load() && !r.demo { // whoever kills gotap means gotap
		return
	}
	if r.commandEnded() {
		return
	}
	if r.session.LeftStopped(r.launched) { // a debugger shall find it as it was when the program stopped it
		r.note("process %d is left stopped", r.launched)
		return
	}
	r.asked.Store(true)
	syscall.Kill(r.launched, syscall.SIGTERM)
	for end := time.Now().Add(commandPatience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if r.commandEnded() {
			return
		}
	}
	r.note("process %d got SIGTERM and still runs", r.launched)
}

// commandEnded reports whether COMMAND is no more, and reaps it: until it is reaped its number is nobody else's.
func (r *run) commandEnded() bool {
	var ws syscall.WaitStatus
	got, err := syscall.Wait4(r.launched, &ws, syscall.WNOHANG, nil)
	if got == r.launched {
		r.waited(ws)
	}
	return got != 0 || err != nil && !errors.Is(err, syscall.EINTR)
}

// commandPatience is how long gotap waits for COMMAND to follow its SIGTERM, so that their outputs do not mix.
const commandPatience = 2 * time.Second

// abandon ends a run that never began: COMMAND has not run an instruction of its own, so it can be killed.
func (r *run) abandon() {
	r.manager.close()
	if r.early {
		r.script().Pause()
	}
	if r.launched != 0 && !r.outcomes.ended() {
		r.outcomes.forget()
		syscall.Kill(r.launched, syscall.SIGKILL)
	}
	r.letGo()
	if r.launched != 0 {
		syscall.Wait4(r.launched, nil, 0, nil) // reaped already is as well
	}
}

func (r *run) close() {
	r.script().Close()
	r.arena.Close()
}

// stop is the script's stop(n). Safe for concurrent use.
func (r *run) stop(int) {
	if r.stopped.CompareAndSwap(false, true) {
		close(r.stopping)
	}
}

// stuck ends a session whose JavaScript cannot be interrupted: the targets come first. It is called while the script is loaded, too, when
// there is no session yet.
func (r *run) stuck(err error) {
	status := statusFailure
	if r.session == nil {
		status = statusUsage
	}
	r.letGo()
	r.manager.unlink()
	r.complain(withStatus(status, err))
	r.out.End(output.End{Status: status})
	r.out.Flush()
	os.Exit(status)
}
