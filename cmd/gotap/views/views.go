// Package views shows a run while it goes on: as a file of metrics, on the terminal, in a browser, to Prometheus, to a
// collector of OpenTelemetry. It joins the views with the session that they show.
//
// The views are sinks of the run. They look at one board, which reads the session when they ask.
package views

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gotap"
	"gotap/engine/linux/container"
	"gotap/runtime/object"
	"gotap/runtime/snapshot"
	"gotap/script/output"
	"gotap/script/output/live"
	"gotap/script/output/metric"
	"gotap/script/output/openmetrics"
	"gotap/script/output/otlp"
)

// Views are the views of a run. Nil has none.
type Views struct {
	board    *live.Board
	sinks    output.Fanout
	otlp     *otlp.Sink // nil: none
	terminal *terminal  // nil: none
	sends    bool       // metrics are written or sent at the end of the run
}

// New makes no view yet. target describes what is traced, for people.
func New(target string) *Views {
	board := live.NewBoard(target)
	return &Views{board: board, sinks: output.Fanout{board}}
}

// AddFile has metrics written by a function that replaces a file; when it is not repeated, at the end alone.
func (v *Views) AddFile(put func(text []byte) error, repeated bool) {
	v.sends = true
	v.sinks = append(v.sinks, openmetrics.NewSink(v.board.Metrics, put, repeated))
}

// Sinks are where the run's output goes, too.
func (v *Views) Sinks() output.Fanout {
	if v == nil {
		return nil
	}
	return v.sinks
}

// Describe says what the run is: the name of the script and its text.
func (v *Views) Describe(title, script string) {
	if v != nil {
		v.board.Describe(title, script)
	}
}

// Lost sends what is left and returns what metrics had no room for and what could not be sent, by cause. The run is
// over but for the report of losses.
func (v *Views) Lost() map[string]uint64 {
	lost := map[string]uint64{}
	if v != nil {
		if v.sends {
			v.board.Metrics()
		}
		if v.otlp != nil {
			maps.Copy(lost, v.otlp.Finish())
		}
		maps.Copy(lost, v.board.Left())
	}
	return lost
}

// Attach begins to show a session that runs.
func (v *Views) Attach(s *gotap.Session, id metric.Identity) {
	if v == nil {
		return
	}
	v.board.Attach(id, func() (metric.Source, error) { return read(s.Control()) })
	if v.terminal != nil {
		v.show(s.Stop)
	}
}

// Detach reads the session a last time, before it is closed, and gives the terminal back.
func (v *Views) Detach() {
	if v == nil {
		return
	}
	v.board.Detach()
	if v.terminal != nil {
		v.terminal.close()
	}
}

// read returns what a session has.
func read(c *gotap.Control) (from metric.Source, err error) {
	values, err := c.Values(false)
	if err != nil {
		return from, err
	}
	names := map[string]bool{}
	for _, v := range values {
		if k := v.Object.Kind; k == object.KindInt || k == object.KindText || k == object.KindArray || names[v.Object.Name] || v.Object.Library {
			continue
		}
		names[v.Object.Name] = true
		from.Aggregates = append(from.Aggregates, output.Aggregate{Snapshot: v.Map, Options: snapshot.Options{Stack: c.StackLines}})
	}
	probes, err := c.Query()
	for _, p := range probes {
		from.Probes = append(from.Probes, metric.Probe{Name: p.Name, Hits: p.Hits, Missed: p.Missed})
	}
	from.Lost = c.Lost()
	return from, err
}

// Identity returns what identifies the metrics of a run of COMMAND, or of processes.
func (o Options) Identity(script string, command []string, pids []int) metric.Identity {
	return identity(script, command, pids).With(o.labels)
}

func identity(script string, command []string, pids []int) metric.Identity {
	id := metric.Identity{Script: filepath.Base(script)}
	id.Host, _ = os.Hostname()
	if len(command) > 0 {
		id.Program, id.Container = filepath.Base(command[0]), containerOf(os.Getpid())
		return id
	}
	var programs, containers []string
	for _, pid := range pids {
		if exe, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/exe"); err == nil {
			programs = append(programs, strings.TrimSuffix(filepath.Base(exe), " (deleted)"))
		}
		if c := containerOf(pid); c != "" {
			containers = append(containers, c)
		}
	}
	id.Program, id.Container = joined(programs), joined(containers)
	return id
}

func joined(list []string) string {
	slices.Sort(list)
	return strings.Join(slices.Compact(list), ",")
}

// containerOf returns the beginning of the ID of the container that a process is in, as tools show it; "" when it is in
// none.
func containerOf(pid int) string {
	id, ok := container.Of(pid)
	if !ok {
		return ""
	}
	return id.Short()
}
