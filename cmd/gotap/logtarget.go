package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"gotap/cmd/gotap/datafile"
	"gotap/cmd/gotap/status"
	"gotap/cmd/gotap/terminal"
	"gotap/script/output"
	"gotap/script/output/picture"
	"gotap/script/output/syslog"
)

// A logTarget is one --log, open: where a session writes what it produces. The layout is in docs/json.md.
type logTarget struct {
	name string // as given
	sink output.Sink
	sys  *syslog.Sink // or nil
}

// logTargetUse is how --log is written.
const logTargetUse = "terminal, file:PATH, json:PATH or syslog[:SOCKET]"

// openLogs opens the targets of --log. Files are appended to, so that sessions can share one.
func (p *plan) openLogs() error {
	for _, text := range p.logNames {
		kind, path, given := strings.Cut(text, ":")
		if (kind == "file" || kind == "json" || given) && path == "" || kind == "terminal" && given {
			return status.Hinted(fmt.Errorf("--log %s: no such target", text), logTargetUse)
		}
		t, err := p.openLog(kind, path)
		if err != nil {
			return err
		}
		if t != nil {
			t.name = text
			p.logs = append(p.logs, t)
		}
	}
	return nil
}

// openLog opens one target; nil is the terminal.
func (p *plan) openLog(kind, path string) (*logTarget, error) {
	switch kind {
	case "terminal":
		p.terminal = true
		return nil, nil
	case "syslog":
		if path == "" {
			path = syslog.DefaultSocket
		}
		s, err := syslog.Open(path)
		if err != nil {
			return nil, status.Hinted(err, "is a logger running? --log syslog:SOCKET names another socket, --log file:PATH needs none")
		}
		return &logTarget{sink: s, sys: s}, nil
	case "file", "json":
		f, err := datafile.Open(path, os.O_APPEND)
		if err != nil {
			return nil, fmt.Errorf("cannot log: %w", err)
		}
		if kind == "json" {
			return &logTarget{sink: p.records(f)}, nil
		}
		text := output.NewText(f, f)
		text.Own = &p.own
		return &logTarget{sink: textLog{text}}, nil
	}
	return nil, status.Hinted(fmt.Errorf("--log %s: no such target", kind), logTargetUse)
}

// textLog is a text file that several sessions append to.
type textLog struct{ *output.Text }

// Ready begins the session's part.
func (t textLog) Ready() {
	t.Print(fmt.Sprintf("# gotap %d session %d %s\n", output.Version, os.Getpid(), time.Now().UTC().Format(time.RFC3339)))
}

// sinks returns where the data go: standard output or the file of -o, unless only --log targets are named, and those
// targets, which include the picture.
func (p *plan) sinks(stderr io.Writer) (all output.Sink, logs output.Fanout) {
	var data io.Writer = p.sinkFile
	if len(p.logs) > 0 && !p.terminal && p.output == "" {
		data = io.Discard
	}
	switch {
	case p.shape.Metrics:
		data = io.Discard
	case p.shape.Whole():
		p.picture = p.shape.Sink(data, p.targetText())
		logs, data = append(logs, p.picture), io.Discard
	}
	logs = append(logs, p.views.Sinks()...)
	text := output.NewText(data, stderr)
	text.Own, text.Columns = &p.own, func() int { return terminal.Columns(p.data) }
	if f, ok := stderr.(*os.File); ok {
		text.Colours, text.Complaints = terminal.Coloured(f), func() int { return terminal.Columns(f) }
	}
	var first output.Sink = text
	if p.json && data != io.Discard {
		first = p.records(data)
	}
	for _, t := range p.logs {
		logs = append(logs, t.sink)
	}
	if len(logs) == 0 {
		return first, nil
	}
	return append(output.Fanout{first}, logs...), logs
}

// records returns a sink of JSON, with the labels of the run if the user gives any.
func (p *plan) records(to io.Writer) *output.JSON {
	j := output.NewJSON(to)
	if p.shown.Labelled() {
		for _, l := range p.shown.Identity(p.script, p.command, p.pids).Labels() {
			j.Labels = append(j.Labels, output.Field{Name: l.Name, Value: l.Value})
		}
	}
	return j
}

// checkLabels checks the labels, which not all formats have.
func (p *plan) checkLabels() error {
	records := p.json || slices.ContainsFunc(p.logNames, func(name string) bool { return strings.HasPrefix(name, "json:") })
	return p.shown.CheckLabels(records || p.shape.Metrics)
}

// targetText describes what is traced.
func (p *plan) targetText() string {
	if len(p.pids) > 0 {
		return processList(p.pids)
	}
	return cmp.Or(strings.Join(p.command, " "), p.remote, "the demonstration")
}

// lostByLogs counts what log targets and the picture did not accept, by cause.
func (p *plan) lostByLogs() map[string]uint64 {
	lost := p.views.Lost()
	lost[picture.DroppedCause] = p.picture.Dropped()
	for _, t := range p.logs {
		if t.sys != nil {
			lost[fmt.Sprintf("messages that %s did not take", t.name)] += t.sys.Dropped()
		}
	}
	return lost
}
