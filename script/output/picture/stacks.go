package picture

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"gotap/runtime/object"
	"gotap/runtime/value"
	"gotap/script/output"
)

// Stacks are stacks that were counted together.
type Stacks struct {
	Name string // of the aggregation, table, probe
	Unit string // of the values: "count", "nanoseconds" or "bytes"
	List []Stack
}

// ErrNoStacks reports that a run has produced no stacks.
var ErrNoStacks = &NothingError{Missing: "stacks", Advice: "add to an aggregation at a stack, as in count(\"at\", {keys: 1}).at(c.stack(16)).inc(), or emit one in a record; gotap trace reports calls, which have stacks"}

// A Stack is a stack and how much it counts.
type Stack struct {
	Frames []string // names of functions, outermost first
	Value  int64
}

// Stacks returns all stacks: of tables, of aggregations, of events by probe, and of calls. What counts nothing is left
// out.
func (p *Picture) Stacks() (all []Stacks) {
	for _, t := range p.Tables {
		all = append(all, tableStacks(t)...)
	}
	for _, a := range p.Aggregates {
		all = append(all, aggregateStacks(a))
	}
	all = append(all, p.eventStacks()...)
	all = append(all, p.callStacks()...)
	return slices.DeleteFunc(all, func(s Stacks) bool { return len(s.List) == 0 })
}

// A line of a stack is an address, mostly a name with an offset, the module, and the place in the source.
var (
	frameAddress = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^0x[0-9a-f]+ `) })
	frameText    = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(.*?)(?:\+0x[0-9a-f]+| \[inlined\])?(?:(?:^| )\(([^()]*)\))?(?: at \S+:\d+)?$`)
	})
)

// FrameName returns the function of a stack's line; without one the module and the address in it.
func FrameName(line string) string {
	line = strings.TrimSpace(line)
	m := frameText().FindStringSubmatch(frameAddress().ReplaceAllString(line, ""))
	switch {
	case m == nil:
		return line
	case m[1] != "":
		return m[1]
	case m[2] != "":
		return m[2]
	}
	return line
}

// outermost returns the names of a stack's lines, which begin with the innermost.
func outermost(frames []string) []string {
	names := make([]string, len(frames))
	for i, line := range frames {
		names[len(frames)-1-i] = FrameName(line)
	}
	return names
}

// tableStacks returns the stacks of a table, for each of its columns of numbers. A stack is a list of frames or of
// lines, innermost first, in a column "stack", or a folded line.
func tableStacks(t output.Table) (all []Stacks) {
	at := slices.Index(t.Columns, "stack")
	if at < 0 {
		return nil
	}
	for i, column := range t.Columns {
		if i == at {
			continue
		}
		f := newFolder()
		for _, row := range t.Rows {
			if at >= len(row) || i >= len(row) {
				continue
			}
			n, _ := number(row[i])
			f.add(f.stack(cellFrames(row[at])...), n)
		}
		all = append(all, f.stacks(t.Name+", "+column, unitOf(column)))
	}
	return all
}

func cellFrames(cell any) []string {
	if text, ok := cell.(string); ok && !strings.Contains(text, "\n") {
		return strings.Split(text, ";")
	}
	return outermost(lines(cell))
}

// unitOf guesses the unit of numbers by their name, as samples have them.
func unitOf(name string) string {
	name = strings.ToLower(name)
	switch {
	case strings.Contains(name, "bytes"), strings.Contains(name, "size"):
		return "bytes"
	case strings.HasSuffix(name, " ns"), strings.Contains(name, "time"), name == "ns", name == "total", strings.Contains(name, "nanoseconds"):
		return "nanoseconds"
	}
	return "count"
}

// aggregateStacks returns the stacks in an aggregation's keys. Other parts of a key are outside of its stack.
func aggregateStacks(a output.Aggregate) Stacks {
	s := a.Snapshot.With(a.Options)
	f, unit := newFolder(), "count"
	if k := s.Object.Kind; k != object.KindCount && k != object.KindHist && k != object.KindLhist {
		unit = unitOf(s.Object.Name)
	}
	for _, e := range s.Entries {
		var outer, frames []string
		for _, v := range e.Key {
			if v.Kind == value.KindStack {
				frames = outermost(v.Frames(a.Options.Stack))
			} else {
				outer = append(outer, v.Format(a.Options.Stack))
			}
		}
		if frames == nil || e.Data.IsText {
			continue
		}
		n := e.Data.Int
		if e.Data.IsFloat {
			n = int64(e.Data.Float)
		}
		if e.Data.Kind == object.KindStats || e.Data.Kind == object.KindAvg {
			n = e.Data.Sum
		}
		f.add(f.stack(append(outer, frames...)...), n)
	}
	return f.stacks(s.Object.Name, unit)
}

// fieldFrames returns the frames of a field that has a stack, innermost first.
func fieldFrames(f output.Field) []string {
	if _, list := f.Value.([]string); list || f.Name == "stack" {
		return lines(f.Value)
	}
	return nil
}

// eventStacks counts the stacks of events, by probe.
func (p *Picture) eventStacks() (all []Stacks) {
	probes := map[string]*folder{}
	for _, e := range p.Events {
		for _, field := range e.Fields {
			if frames := fieldFrames(field); len(frames) > 0 {
				if probes[e.Probe] == nil {
					probes[e.Probe] = newFolder()
				}
				f := probes[e.Probe]
				f.add(f.stack(append([]string{e.Comm}, outermost(frames)...)...), 1)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(probes)) {
		all = append(all, probes[name].stacks(name, "count"))
	}
	return all
}
