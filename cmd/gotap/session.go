package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"gotap"
	"gotap/cmd/gotap/demo"
	"gotap/cmd/gotap/filewatch"
	"gotap/cmd/gotap/guardian"
	"gotap/cmd/gotap/manager"
	"gotap/cmd/gotap/status"
	"gotap/cmd/gotap/terminal"
	"gotap/engine"
	"gotap/script/output"
	"gotap/script/output/picture"
)

// A run is a session of package gotap with what belongs to the command line: the terminal, files of output, signals,
// the control socket. It belongs to the goroutine that runs it; the session's hooks are called by others.
type run struct {
	w       *World
	plan    *plan
	out     output.Sink
	logs    output.Fanout // of out, the targets of --log
	text    gotap.Script
	session *gotap.Session // nil until the script is loaded
	demo    bool
	armed   atomic.Bool                  // the probes are armed, which --ready-fd reports
	ended   sync.Once                    // the record of the end is written
	stops   atomic.Pointer[output.Stops] // for that record; nil: none

	progress *terminal.Progress
	watcher  *filewatch.Watcher // nil: the script is not watched
	manager  *manager.Manager   // nil: no socket
	recorder *recorder          // nil: nothing is recorded
	keys     keyInput
}

// planned returns a run of which nothing has been done yet.
func planned(w *World, p *plan) *run {
	r := &run{w: w, plan: p}
	r.progress = terminal.NewProgress(nil)
	if !p.quiet && !p.background && terminal.Is(w.Stderr) {
		r.progress = terminal.NewProgress(w.Stderr)
	}
	r.out, r.logs = p.sinks(w.Stderr)
	if len(r.logs) == 0 { // nobody receives further data
		p.sinkFile.Gone = func() { r.session.Stop() }
	}
	return r
}

// run goes through a session: load, start the target, arm, trace, end.
func (r *run) run(text gotap.Script) error {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	defer close(done)
	defer cancel()
	code, err := r.phases(ctx, cancel, done, text)
	if err != nil {
		code = status.Of(err)
		r.complain(err)
	}
	if r.session != nil {
		r.session.ReportOutcomes()
	}
	return r.end(code)
}

// end writes the last of the data. A status other than 0 becomes an error that prints nothing: its reason has been
// reported.
func (r *run) end(code int) error {
	r.writeEnd(code)
	werr, nothing := r.out.Err(), new(picture.NothingError)
	switch {
	case errors.As(werr, &nothing):
		return status.With(cmp.Or(code, status.Failure), fmt.Errorf("-f %s: %w", r.plan.shape.Name, nothing))
	case werr != nil && code == status.OK && !errors.Is(werr, syscall.EPIPE):
		return status.With(status.Failure, fmt.Errorf("cannot write the data: %w", werr))
	}
	if code != status.OK {
		return status.Silent(code)
	}
	return nil
}

// writeEnd writes the record of the end, once: a second Ctrl-C or a script that cannot be interrupted may come first.
// Safe for concurrent use.
func (r *run) writeEnd(code int) {
	r.ended.Do(func() {
		var targets []output.Target
		if r.session != nil {
			targets = r.session.Targets()
		}
		r.out.End(output.End{Status: code, Targets: targets, Stops: r.stops.Load()})
		r.out.Flush()
	})
}

// phases does the work of run and returns the status. The user's signals call cancel, the function of ctx, until done
// is closed.
func (r *run) phases(ctx context.Context, cancel func(), done <-chan struct{}, text gotap.Script) (int, error) {
	control := newControl(r.w)
	defer r.dropRecording()
	if err := r.load(ctx, text); err != nil {
		return 0, err
	}
	go r.attend(control, cancel, done)
	if err := r.openWatch(text); err != nil {
		return 0, errors.Join(err, r.abandon())
	}
	defer r.closeWatch()
	if err := r.begin(); err != nil {
		code := r.finish()
		if errors.Is(err, engine.ErrInterrupted) {
			return code, nil
		}
		return 0, r.explainDemo(err)
	}
	if err := r.trace(); err != nil {
		r.finish()
		return 0, err
	}
	return r.finish(), nil
}

// load prepares everything that needs no target.
func (r *run) load(ctx context.Context, text gotap.Script) (err error) {
	r.text = text
	r.plan.picture.Describe(text.Name, text.Text)
	r.plan.views.Describe(text.Name, text.Text)
	if err := r.startRecording(text); err != nil {
		return err
	}
	if err := r.checkFlags(text); err != nil {
		return err
	}
	o, err := r.options()
	if err != nil {
		return err
	}
	r.session, err = gotap.Open(ctx, text, o)
	return err
}

// checkFlags refuses flags that do not go with the kind of the text.
func (r *run) checkFlags(text gotap.Script) error {
	if isDefinition(text) {
		return nil
	}
	if r.plan.exits != "" {
		return status.With(status.Usage, fmt.Errorf("--exits is for definition files, and %s is a script", text.Name))
	}
	if r.plan.hasDefinition() {
		return nil
	}
	return r.plan.definitionFlags.refuse(text)
}

// options are those of the session.
func (r *run) options() (gotap.Options, error) {
	p, streams := r.plan, r.commandStreams()
	fetch, err := r.w.fetcher(p.quiet)
	if err != nil {
		return gotap.Options{}, err
	}
	o := gotap.Options{
		Command: p.command, Stdin: streams.In, Stdout: streams.Out, Stderr: streams.Err, Pids: p.pids, Remote: p.remote, Exe: p.exe,
		Args: p.args, Definition: p.definition, Beside: p.beside, Follow: p.follow, ByScript: p.runOptions.follow == "", Engine: p.engine, Affinity: p.affinity, MaxProbes: max(p.maxSites, 0),
		Unsafe: p.unsafe, Budget: p.share, Output: dataSink{r.out, r}, Hooks: r.hooks(),
		Tool: gotap.Tool{Quiet: p.quiet && !p.stats, Silent: p.quiet, Verbose: p.verbose, Keep: p.watch, Supervised: true, MayEnd: len(p.containers) > 0, Explain: p.stats, Own: r.w.waiting(), Fetch: fetch},
	}
	if p.missing != "error" {
		o.Missing = gotap.Missing(p.missing)
	}
	if p.mixes(r.w) {
		r.note("standard output has the records and what %s prints: -o FILE, or -o - for the records alone", filepath.Base(p.command[0]))
	}
	if p.targeted(p.command) {
		return o, nil
	}
	lasts := cmp.Or(p.duration, demo.Time) // -T, or the demonstration's own end: what comes first is announced as the time
	o.Command = demo.Command(lasts)
	o.Tool.Path, err = ownProgram()
	r.demo, o.Tool.MayAppear, o.Tool.Title = true, true, "the demonstration"
	r.note("no target: probing gotap's own demonstration for %v", lasts)
	return o, status.With(status.Target, err)
}

// hooks returns the functions that take the session's reports.
func (r *run) hooks() gotap.Hooks {
	targets := guardian.NewReporter(r.w.control)
	h := gotap.Hooks{
		Note: func(text string) { r.note("%s", text) }, Warn: r.warnings, Complain: r.complain, Progress: r.progress.Set,
		Outcome: func(line string) { r.status("%s\n", line) },
		Process: targets.Process, Stub: targets.Stub, Stuck: r.stuck, Lost: r.lost,
		Columns: func() int { return terminal.Columns(r.plan.data) }, Controls: &r.plan.own,
	}
	if r.recorder != nil {
		h.Journal = r.recorder.Writer
	}
	return h
}

// lost returns the losses of the files that the run writes.
func (r *run) lost() map[string]uint64 {
	lost := r.plan.lostByLogs()
	for cause, n := range r.lostByRecording() {
		lost[cause] += n
	}
	return lost
}

// dataSink notices when the data begin.
type dataSink struct {
	output.Sink
	r *run
}

// Ready implements output.Sink: it removes an earlier run's data from the file, and reports on --ready-fd that the
// probes are armed.
func (s dataSink) Ready() {
	s.r.plan.sinkFile.Clear()
	s.Sink.Ready()
	s.Sink.Flush()
	if s.r.armed.Load() {
		s.r.plan.sayReady()
	}
}

// begin starts or attaches the targets and arms the probes, and lets them run.
func (r *run) begin() error {
	if err := r.session.Arm(); err != nil {
		return err
	}
	if err := r.joinFurther(); err != nil {
		return err
	}
	if err := r.manage(); err != nil {
		return err
	}
	r.armed.Store(true)
	if err := r.session.Start(); err != nil {
		return err
	}
	r.plan.views.Attach(r.session, r.plan.shown.Identity(r.text.Name, r.plan.command, r.plan.pids))
	return r.leaveTerminal()
}

// attend has the user's signals and the supervisor's end reach the session, until done is closed.
func (r *run) attend(c control, cancel func(), done <-chan struct{}) {
	for {
		select {
		case <-c.Dumps:
			r.session.PrintAll()
			continue
		case <-c.Interrupts:
			cancel()
			r.hurry(c)
		case <-c.Gone:
			if c.Orphaned.Load() && !r.demo { // killing the supervisor ends gotap, not COMMAND
				r.session.LeaveCommand()
			}
			cancel()
		case <-done:
		}
		return
	}
}

// trace waits for what ends the run: the targets, the user, the time, or the script.
func (r *run) trace() error {
	if r.plan.duration > 0 {
		defer time.AfterFunc(r.plan.duration, r.session.Stop).Stop()
	}
	r.keys.listen(r)
	defer r.keys.close()
	if r.watcher != nil {
		defer r.startWatch()()
	}
	return r.session.Wait()
}

// hurry waits for the second Ctrl-C: it detaches at once and exits without waiting for callbacks.
func (r *run) hurry(c control) {
	select {
	case <-c.Interrupts:
		r.complain(errors.New("interrupted a second time: detached at once; what was not printed yet is lost"))
	case <-c.Gone:
	}
	err := r.session.Abort()
	if err != nil {
		r.complain(err)
	}
	r.session.ReportOutcomes()
	r.writeEnd(status.Of(err))
	r.manager.Unlink()
	os.Exit(status.Of(err))
}

// abandon ends a session that never began.
func (r *run) abandon() error {
	_, err := r.session.Close()
	return err
}

// finish detaches from the targets, runs end() and reports the result of the session. It returns the status.
func (r *run) finish() int {
	r.plan.views.Detach()
	r.manager.Close()
	result, err := r.session.Close()
	if result != nil && r.plan.stats {
		r.printStats(result)
		r.stops.Store(&output.Stops{All: result.Stats.Stops, Together: result.Stats.Together, Apart: result.Stats.Apart})
	} else if result != nil && r.plan.engine == engine.Inline {
		r.warnings(leftOut(result.Probes))
	}
	if err == nil && result != nil {
		err = status.With(status.Failure, r.endRecording())
	}
	switch {
	case err != nil:
		r.complain(r.explainDemo(err))
		return status.Of(err)
	case result == nil:
		return status.OK
	}
	return r.exitStatus(result)
}

// exitStatus returns the status of a run in which nothing of gotap's own has failed: the first of these that is not 0.
func (r *run) exitStatus(result *gotap.Result) int {
	switch target := r.session.TargetStatus(); {
	case result.Status != status.OK:
		return result.Status
	case r.plan.preserve && target != status.OK:
		return target
	case result.Faults > 0:
		return status.Failure
	}
	return status.OK
}

// explainDemo adds to the error that no probe matched that the target was only the demonstration.
func (r *run) explainDemo(err error) error {
	if !r.demo || status.Of(err) != status.NoProbe {
		return err
	}
	return status.Hinted(err, "the demonstration has no such places; name a program, as in: gotap run SCRIPT -- ls -l, or a process with -p")
}

// stuck ends the process when the script cannot be interrupted.
func (r *run) stuck(err error) {
	r.manager.Unlink()
	r.complain(err)
	r.writeEnd(status.Of(err))
	os.Exit(status.Of(err))
}

// inputs returns the files to be watched for changes.
func (r *run) inputs() []string { return r.session.Inputs() }

func isFile(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// watchable reports whether any of the script's inputs can change.
func (r *run) watchable() bool { return slices.ContainsFunc(r.inputs(), isFile) }
