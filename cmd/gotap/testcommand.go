package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gotap"
	"gotap/cmd/gotap/status"
	"gotap/compile/diag"
	"gotap/script"
	"gotap/script/output"
	"gotap/script/recording"
	"gotap/stdlib"
)

// testFlags are the flags of gotap test.
type testFlags struct {
	args    []string
	unsafe  bool
	verbose bool
}

func newTest(w *World) *cobra.Command {
	var flags testFlags
	c := &cobra.Command{
		Use:   "test SCRIPT [RECORDING]",
		Short: "Replay a recording to a script, and check its expectations",
		Long: `test replays a recording of gotap record to the script: callbacks, timers and end() run as if live, without a target.
Then it calls the functions passed to test(), and checks each expect().
RECORDING is SCRIPT` + recordSuffix + ` by default. The status is 1 when an expectation fails or a callback throws.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 || len(args) > 2 {
				return status.Hinted(status.With(status.Usage, errors.New("test needs a script, and may have a recording")), "gotap test SCRIPT [RECORDING]")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return flags.run(w, args) },
	}
	c.Flags().StringArrayVar(&flags.args, "arg", nil, "name=value, instead of what was given when recording (repeatable)")
	c.Flags().BoolVar(&flags.unsafe, "unsafe", false, "the script's programs change the target")
	c.Flags().BoolVarP(&flags.verbose, "verbose", "v", false, "show what the script prints")
	return c
}

func (f *testFlags) run(w *World, args []string) error {
	text, err := readFile(args[0])
	if err != nil {
		return err
	}
	if isDefinition(text) {
		return status.With(status.Usage, errors.New("a definition file has no callbacks to test"))
	}
	path := recordingOf(text.Name)
	if len(args) > 1 {
		path = args[1]
	}
	rec, err := readRecording(path)
	if err != nil {
		return err
	}
	p := &playback{w: w}
	p.player = rec.Player(p.printed)
	if err := p.load(f, text); err != nil {
		return err
	}
	defer p.script.Close()
	p.player.Play(p.script)
	if f.verbose {
		w.Stdout.WriteString(p.data.String())
	}
	return p.report()
}

// readRecording reads a recording. The error for one that does not exist has a hint on how to make it.
func readRecording(path string) (*recording.Recording, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, status.Hinted(status.With(status.Usage, fmt.Errorf("cannot find the recording %s", path)), "gotap record SCRIPT -o "+path+" -- COMMAND")
	}
	if err != nil {
		return nil, status.With(status.Usage, fmt.Errorf("cannot read the recording: %w", err))
	}
	defer file.Close()
	rec, err := recording.Read(file)
	if err != nil {
		hint := "record it again: gotap record SCRIPT -o " + path + " -- COMMAND"
		return nil, status.Hinted(status.With(status.Usage, fmt.Errorf("%s: %w", path, err)), hint)
	}
	return rec, nil
}

// playback is a script that a recording is played to.
type playback struct {
	w      *World
	script *script.Script
	player *recording.Player
	data   bytes.Buffer // what the script prints
}

func (p *playback) printed() string { return p.data.String() }

// load loads the script with the arguments it was recorded with, unless others are given.
func (p *playback) load(f *testFlags, text gotap.Script) error {
	given := plan{runOptions: runOptions{args: f.args}}
	if err := given.checkArgs(); err != nil {
		return status.With(status.Usage, err)
	}
	out := output.NewText(&p.data, p.w.Stderr)
	out.Own = new(diag.Controls)
	s, list := script.Load(script.Options{
		Name: text.Name, Text: text.Text, Dir: text.Dir, Std: stdlib.Files(), Args: given.args, Unsafe: f.unsafe,
		Output: out, Own: out.Own, Replay: p.player, Stuck: p.w.stuck(status.Failure),
	})
	if err := list.Err(); err != nil {
		return status.With(status.Usage, err)
	}
	warnings(p.w, list)
	p.script = s
	return nil
}

// report prints the results of the tests.
func (p *playback) report() error {
	v := p.script.Verdict()
	for i, name := range v.Tests {
		word := "ok    "
		if v.Failed[i] {
			word = "FAILED"
		}
		fmt.Fprintf(p.w.out(), "%s %s\n", word, name)
	}
	for _, d := range v.Failures {
		fmt.Fprintln(p.w.errs(), strings.TrimSuffix(d.String(), "\n"))
	}
	p.reportMissing()
	if more := v.Missed - len(v.Failures); more > 0 {
		fmt.Fprintf(p.w.errs(), "gotap: %s more not met\n", plural(more, "expectation"))
	}
	fmt.Fprintf(p.w.out(), "%s met, %d not%s\n", plural(v.Passed, "expectation"), v.Missed, failedTests(v))
	switch {
	case v.Missed > 0:
		return status.Silent(status.Failure)
	case p.script.Faults() > 0:
		return status.With(status.Failure, fmt.Errorf("%s threw", plural(int(p.script.Faults()), "callback")))
	case v.Passed == 0:
		return status.Hinted(status.With(status.Failure, errors.New("the script expects nothing")),
			`test("counts calls", () => { expect(calls.get()).toBe(3); }) in the script`)

	}
	return nil
}

// failedTests returns how many tests failed, by what they expected or by what they threw; empty when none did.
func failedTests(v script.Verdict) string {
	failed := 0
	for _, f := range v.Failed {
		if f {
			failed++
		}
	}
	if failed == 0 {
		return ""
	}
	return fmt.Sprintf("; %d of %s failed", failed, plural(len(v.Failed), "test"))
}

// reportMissing lists records of probes that the script no longer has.
func (p *playback) reportMissing() {
	missing := p.player.Missing()
	var names []string
	for name := range missing {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(p.w.errs(), "gotap: %s of %s not played: the script has no such probe\n", plural(missing[name], "record"), name)
	}
}
