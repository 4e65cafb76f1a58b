package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"gotap"
	"gotap/cmd/gotap/datafile"
	"gotap/cmd/gotap/status"
	"gotap/script/recording"
)

// recordSuffix is the suffix of a recording's file name.
const recordSuffix = ".hits"

// newRecord is run with -o for the recording instead of the data.
func newRecord(w *World) *cobra.Command {
	var o runOptions
	c := &cobra.Command{
		Use:   "record [flags] SCRIPT [-o FILE] [-- COMMAND ARG…]",
		Short: "Trace a program, and record what the script receives for gotap test",
		Long: `record is run that also writes every record, event and answer that the script's callbacks receive to a file: SCRIPT` + recordSuffix + `
unless -o names another. gotap test replays it to the script, without a target.`,
		RunE: func(c *cobra.Command, args []string) error {
			return runScript(w, c, args, &o, func(text gotap.Script) {
				if o.record = o.output; o.record == "" {
					o.record = recordingOf(text.Name)
				}
				o.output = ""
			})
		},
	}
	o.register(c)
	w.registerFetch(c)
	c.Flags().Lookup("output").Usage = "the recording (default SCRIPT" + recordSuffix + ")"
	c.Flags().Lookup("record").Hidden = true
	c.Flags().Lookup("rotate").Hidden = true // a recording is one file
	return c
}

// recordingOf returns the default path of a script's recording: in the working directory when the script is not a file.
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

// startRecording opens the recording, if the flags ask for one.
func (r *run) startRecording(text gotap.Script) error {
	if r.plan.record == "" {
		return nil
	}
	if isDefinition(text) {
		return status.With(status.Usage, errors.New("a definition file has no callbacks to record for"))
	}
	if info, err := os.Stat(r.plan.record); err == nil && info.IsDir() { // the recording could not be renamed to it at the end
		return status.With(status.Usage, fmt.Errorf("cannot write the recording: %s is a directory", r.plan.record))
	}
	f, err := datafile.Create(r.plan.record + unfinished)
	if err != nil {
		return status.With(status.Usage, fmt.Errorf("cannot write the recording: %w", err))
	}
	r.recorder = &recorder{f, recording.NewWriter(f, text.Name, r.plan.args)}
	return nil
}

// unfinished is the suffix of a recording until it is complete, so that a failed run does not overwrite an older
// recording.
const unfinished = ".part"

// lostByRecording counts what did not fit in the recording.
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

// dropRecording removes an unfinished recording.
func (r *run) dropRecording() {
	if r.recorder != nil {
		r.recorder.file.Close()
		os.Remove(r.plan.record + unfinished)
	}
}
