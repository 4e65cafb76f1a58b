package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"gotap/cmd/gotap/datafile"
	"gotap/cmd/gotap/othertracers"
	"gotap/cmd/gotap/status"
	"gotap/cmd/gotap/terminal"
	"gotap/cmd/gotap/views"
	"gotap/script/output/format"
)

// checkFormat understands -f. A file that is written as a whole is not mixed with what COMMAND prints.
func (p *plan) checkFormat() (err error) {
	if p.shape, err = format.Choose(p.format, p.output); err != nil {
		return status.Hinted(err, othertracers.Valued("format"))
	}
	p.json, p.apart = p.shape.Name == "json", p.shape.Whole() && p.output == ""
	return p.shape.Check(p.output != "" || len(p.logNames) == 0 || slices.Contains(p.logNames, "terminal"), p.runOptions.rotate != "")
}

// checkOutput understands "-" as standard output, and puts the time into the name of a file.
func (p *plan) checkOutput() error {
	if p.output == "-" {
		p.output, p.terminal, p.apart = "", true, true
	}
	p.output = datafile.Stamped(p.output, time.Now())
	return nil
}

// commandOutput returns where COMMAND writes: with -o - only data go to standard output.
func (p *plan) commandOutput(w *World) *os.File {
	if p.apart {
		return w.Stderr
	}
	return w.Stdout
}

// commandStreams returns the standard streams of COMMAND.
func (r *run) commandStreams() views.Streams {
	if s, ok := r.plan.views.CommandStreams(); ok {
		return s
	}
	return views.Streams{In: r.commandInput(), Out: r.plan.commandOutput(r.w), Err: r.w.Stderr}
}

// mixes reports whether records and what COMMAND prints get into one pipe or file, where nobody can part them.
func (p *plan) mixes(w *World) bool {
	return p.json && len(p.command) > 0 && p.output == "" && !p.apart && (len(p.logs) == 0 || p.terminal) && !terminal.Is(w.Stdout) && !datafile.IsNull(w.Stdout)
}

// openOutput opens the file of -o.
func (p *plan) openOutput() error {
	p.sinkFile = datafile.New(p.data)
	if p.output == "" {
		if p.shape.Metrics {
			p.writeMetrics()
		}
		return p.shape.CheckTerminal(terminal.Is(p.data))
	}
	if p.shape.Metrics {
		if done, err := p.openReplaced(); done || err != nil {
			return err
		}
		p.writeMetrics()
	}
	f, err := datafile.Open(p.output, 0)
	if err != nil {
		return datafile.CannotWrite(p.output, err)
	}
	if err := p.keepScript(f.Name()); err != nil {
		f.Close()
		return err
	}
	p.data = f
	p.sinkFile, err = datafile.Fresh(f, p.rotation)
	return err
}

// openReplaced has metrics replace a file as a whole. done is false when the file is not a regular one.
func (p *plan) openReplaced() (done bool, err error) {
	name, done, err := datafile.Replaceable(p.output)
	if err != nil {
		return false, datafile.CannotWrite(p.output, err)
	}
	if done {
		p.views.AddFile(func(text []byte) error { return datafile.Replace(name, text) }, true)
	}
	return done, p.keepScript(name)
}

// openViews makes what shows the run while it goes on.
func (p *plan) openViews(w *World) error {
	if !p.shape.Metrics && !p.shown.Wanted() {
		return nil
	}
	if p.shown.Top() && (p.background || p.output == "" && (p.apart || p.shape.Name != "text")) {
		return status.Hinted(errors.New("--top has the terminal: data of other formats need a file, and the run cannot go to the background"), "as in --top -o FILE")
	}
	p.views = views.New(p.targetText())
	err := p.views.Open(p.shown, views.Streams{In: w.Stdin, Out: w.Stdout, Err: w.Stderr}, func(must bool, line string) {
		if must || !p.quiet {
			fmt.Fprintf(w.errs(), "gotap: %s\n", line)
		}
	})
	if s, ok := p.views.Streams(); err == nil && ok {
		p.data, w.Stdout, w.Stderr = s.Out, s.Out, s.Err
	}
	return err
}

// writeMetrics writes metrics at the end, to a file that is not a regular one.
func (p *plan) writeMetrics() {
	p.views.AddFile(func(text []byte) error {
		_, err := p.sinkFile.Write(text)
		return err
	}, false)
}

// keepScript refuses to write data over the script.
func (p *plan) keepScript(path string) error {
	script, err := os.Stat(p.script)
	if err != nil {
		return nil // it is not a file
	}
	for _, name := range p.rotation.Names(path) {
		if data, err := os.Stat(name); err == nil && data.Mode().IsRegular() && os.SameFile(script, data) {
			return fmt.Errorf("-o %s is the script: the data would be written over it", p.output)
		}
	}
	return nil
}

// checkRotate parses --rotate, which needs a file.
func (p *plan) checkRotate() (err error) {
	if p.runOptions.rotate == "" {
		return nil
	}
	if p.output == "" {
		return errors.New("--rotate needs a file: give -o FILE")
	}
	if info, err := os.Stat(p.output); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("--rotate: %s is not a regular file", p.output)
	}
	p.rotation, err = datafile.ParseRotation(p.runOptions.rotate)
	return err
}
