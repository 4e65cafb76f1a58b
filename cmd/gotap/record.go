package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"gotap/cmd/gotap/datafile"
	"gotap/script"
	"gotap/script/recording"
)

// recordSuffix is what a recording is called behind the name of its script.
const recordSuffix = ".hits"

// newRecord is run with the recording in the place of the data.
func newRecord(w *World) *cobra.Command {
	var o runOptions
	c := &cobra.Command{
		Use:   "record [flags] SCRIPT [-o FILE] [-- COMMAND ARG…]",
		Short: "Trace a program, and keep what the script gets for gotap test",
		Long: `record is run that keeps every record, event and answer that the script's callbacks get in a file, SCRIPT` + recordSuffix + `
unless -o says otherwise. gotap test plays it to the script again, without a target.`,
		RunE: func(c *cobra.Command, args []string) error {
			return runScript(w, c, args, &o, func(text scriptText) {
				if o.record = o.output; o.record == "" {
					o.record = recordingOf(text.name)
				}
				o.output = ""
			})
		},
	}
	o.register(c)
	c.Flags().Lookup("output").Usage = "the recording (default SCRIPT" + recordSuffix + ")"
	c.Flags().Lookup("record").Hidden = true
	c.Flags().Lookup("rotate").Hidden = true // a recording is one file
	return c
}

// recordingOf is where the recording of a script is when nobody says otherwise: in the working directory for what is no file.
func recordingOf(script string) string {
	switch {
	case script == "-e", script == "<stdin>":
		return "gotap" + recordSuffix
	}
	return strings.TrimSuffix(script, filepath.Ext(script)) + recordSuffix
}

// A recorder writes the recording of a run.
type recorder struct {
	file *os.File
	*recording.Writer
}

// startRecording opens the recording, if there is to be one.
func (r *run) startRecording(text scriptText) error {
	if r.plan.record == "" {
		return nil
	}
	if isDefinition(text) {
		return withStatus(statusUsage, errors.New("a definition file has no callbacks to record for"))
	}
	if info, err := os.Stat(r.plan.record); err == nil && info.IsDir() { // what could not be put in its place at the end
		return withStatus(statusUsage, fmt.Errorf("cannot write the recording: %s is a directory", r.plan.record))
	}
	f, err := datafile.Create(r.plan.record + unfinished)
	if err != nil {
		return withStatus(statusUsage, fmt.Errorf("cannot write the recording: %w", err))
	}
	r.recorder = &recorder{f, recording.NewWriter(f, text.name, r.plan.args)}
	return nil
}

// unfinished is behind the name of a recording until it is complete: a run that fails leaves an older one alone.
const unfinished = ".part"

// journal is what the script tells of what it gets; nil when nobody wants to know.
func (r *run) journal() script.Journal {
	if r.recorder == nil {
		return nil
	}
	return r.recorder.Writer
}

// lostByRecording is what the recording had no room for.
func (r *run) lostByRecording() map[string]uint64 {
	if r.recorder == nil {
		return nil
	}
	return map[string]uint64{fmt.Sprintf("recording full: %d MB", recording.MaxSize>>20): r.recorder.Dropped()}
}

// endRecording completes the recording.
func (r *run) endRecording() error {
	if r.recorder == nil {
		return nil
	}
	err := errors.Join(r.recorder.Writer.Close(), r.recorder.file.Close())
	if err == nil {
		err = os.Rename(r.plan.record+unfinished, r.plan.record)
	}
	if err != nil {
		return fmt.Errorf("cannot keep the recording %s: %w", r.plan.record, err)
	}
	r.recorder = nil
	r.note("recorded in %s", r.plan.record)
	return nil
}

// dropRecording takes an unfinished recording away.
func (r *run) dropRecording() {
	if r.recorder != nil {
		r.recorder.file.Close()
		os.Remove(r.plan.record + unfinished)
	}
}
