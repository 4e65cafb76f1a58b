// Package pprof writes the stacks of a run as a profile that go tool pprof and its relatives read. Each kind of stacks
// is a sample type.
package pprof

import (
	"io"

	"github.com/google/pprof/profile"

	"gotap/script/output/picture"
)

// A builder makes a profile in which each function is there once.
type builder struct {
	p         profile.Profile
	locations map[string]*profile.Location
}

// Write writes the stacks of a picture, compressed. It fails when there are none, or when w does.
func Write(w io.Writer, p *picture.Picture) error {
	all := p.Stacks()
	if len(all) == 0 {
		return picture.ErrNoStacks
	}
	b := builder{locations: map[string]*profile.Location{}}
	for _, s := range all {
		b.p.SampleType = append(b.p.SampleType, &profile.ValueType{Type: s.Name, Unit: s.Unit})
	}
	for i, s := range all {
		for _, stack := range s.List {
			values := make([]int64, len(all))
			values[i] = stack.Value
			b.p.Sample = append(b.p.Sample, &profile.Sample{Value: values, Location: b.stack(stack.Frames)})
		}
	}
	b.p.DefaultSampleType = all[0].Name
	b.p.Comments = []string{p.Title, p.Target}
	if err := b.p.CheckValid(); err != nil {
		return err
	}
	return b.p.Write(w)
}

// stack returns the locations of frames, innermost first, as profiles have them.
func (b *builder) stack(frames []string) []*profile.Location {
	list := make([]*profile.Location, len(frames))
	for i, frame := range frames {
		list[len(frames)-1-i] = b.location(frame)
	}
	return list
}

func (b *builder) location(name string) *profile.Location {
	if l := b.locations[name]; l != nil {
		return l
	}
	id := uint64(len(b.p.Function) + 1)
	f := &profile.Function{ID: id, Name: name, SystemName: name}
	l := &profile.Location{ID: id, Line: []profile.Line{{Function: f}}}
	b.p.Function, b.p.Location = append(b.p.Function, f), append(b.p.Location, l)
	b.locations[name] = l
	return l
}
