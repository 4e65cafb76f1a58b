package recording

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strconv"
	"strings"

	"gotap/runtime/record"
	rtsnapshot "gotap/runtime/snapshot"
	"gotap/runtime/value"
	"gotap/script"
)

// Recording is a recording that was read.
type Recording struct {
	Script string            // what was recorded, as the user named it
	Args   map[string]string // the arguments it was given

	steps  []step
	probes []probeName
	dumps  map[string][]dumped // by recorder, in order
}

// step is something that happened, and the answers that the script got while it worked on it.
type step struct {
	kind    byte // 0: what came before all else
	record  script.Played
	event   script.Event
	timer   int
	values  []rtsnapshot.Snapshot
	answers []answer
}

// dumped is one dump of a recorder.
type dumped struct {
	records     []script.Played
	want        int
	overwritten uint64
}

// The ways in which a file can be refused. Errors of Read match one of them.
var (
	ErrNoRecording = errors.New("not a recording of gotap")
	ErrVersion     = errors.New("it is of another version")
	ErrCut         = errors.New("it was cut short")
	ErrDamaged     = errDamaged
	ErrTooLarge    = errors.New("it is too large")
)

// reader collects a recording chunk by chunk.
type reader struct {
	*Recording
	formats []*record.Format
	open    *dumped // a dump whose records are still to come
	chunks  uint64
	ended   bool
}

// Read reads a recording, and checks every byte of it.
func Read(r io.Reader) (*Recording, error) {
	in := bufio.NewReader(io.LimitReader(r, MaxSize+1))
	begin, err := in.Peek(longestVersion) // no more is read of a file that is not a recording
	if err == nil || err == io.EOF {
		_, err = version(begin)
	}
	var all []byte
	if err == nil {
		all, err = io.ReadAll(in)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the recording: %w", err)
	}
	rec, err := parse(all)
	if err != nil {
		return nil, fmt.Errorf("cannot read the recording: %w", err)
	}
	return rec, nil
}

// parse reads the chunks of a file to the end chunk.
func parse(all []byte) (*Recording, error) {
	if len(all) > MaxSize {
		return nil, fmt.Errorf("%w: %d MB are the most", ErrTooLarge, MaxSize>>20)
	}
	rest, err := version(all)
	if err != nil {
		return nil, err
	}
	rd := &reader{Recording: &Recording{dumps: map[string][]dumped{}, steps: []step{{}}}}
	for len(rest) > 0 && !rd.ended {
		at := len(all) - len(rest)
		kind, payload, next, err := split(rest)
		if err == nil {
			err = rd.chunk(kind, payload)
		}
		if err != nil {
			return nil, fmt.Errorf("%w, at byte %d", err, at)
		}
		rest = next
	}
	switch {
	case !rd.ended:
		return nil, ErrCut
	case len(rest) > 0:
		return nil, fmt.Errorf("%w: %d bytes after its end", ErrDamaged, len(rest))
	}
	return rd.Recording, nil
}

// longestVersion is the most bytes that the first line is looked for in.
const longestVersion = 64

// version checks the first line.
func version(all []byte) (rest []byte, err error) {
	text := string(all[:min(len(all), longestVersion)])
	number, ok := strings.CutPrefix(text, magic)
	if !ok {
		if len(all) < len(magic) && strings.HasPrefix(magic, text) && len(all) > 0 {
			return nil, ErrCut
		}
		return nil, ErrNoRecording
	}
	digits, _, ok := strings.Cut(number, "\n")
	if !ok && len(all) < longestVersion {
		return nil, ErrCut
	}
	n, err := strconv.ParseUint(digits, 10, 32)
	switch {
	case !ok || err != nil:
		return nil, ErrNoRecording
	case n != Version:
		return nil, fmt.Errorf("%w: %d, and this gotap reads %d", ErrVersion, n, Version)
	}
	return all[len(magic)+len(digits)+1:], nil
}

// split takes the first chunk off.
func split(p []byte) (kind byte, payload, rest []byte, err error) {
	if len(p) < overhead {
		return 0, nil, nil, ErrCut
	}
	n := uint64(binary.LittleEndian.Uint32(p[1:]))
	if n > maxChunk {
		return 0, nil, nil, fmt.Errorf("%w: a chunk of %d bytes", ErrDamaged, n)
	}
	if n+overhead > uint64(len(p)) {
		return 0, nil, nil, ErrCut
	}
	end := 5 + n
	if crc32.ChecksumIEEE(p[:end]) != binary.LittleEndian.Uint32(p[end:]) {
		return 0, nil, nil, fmt.Errorf("%w: a checksum is wrong", ErrDamaged)
	}
	return p[0], p[5:end], p[end+4:], nil
}

// chunk takes one chunk in.
func (rd *reader) chunk(kind byte, payload []byte) error {
	if (rd.chunks == 0) != (kind == chunkHead) {
		return fmt.Errorf("%w: the head is not where it belongs", ErrDamaged)
	}
	if rd.open != nil && len(rd.open.records) < rd.open.want && kind != chunkDumped {
		return fmt.Errorf("%w: a dump is not complete", ErrDamaged)
	}
	rd.chunks++
	take := chunkReaders[kind]
	if take == nil {
		return fmt.Errorf("%w: a chunk of kind %q", ErrDamaged, kind)
	}
	return take(rd, payload)
}

// chunkReaders take the payload of each kind.
var chunkReaders = map[byte]func(*reader, []byte) error{
	chunkHead: func(rd *reader, p []byte) error {
		var h head
		err := decodeJSON(p, &h)
		rd.Script, rd.Args = h.Script, h.Args
		return err
	},
	chunkFormat: (*reader).format,
	chunkProbe: func(rd *reader, p []byte) error {
		var name probeName
		err := decodeJSON(p, &name)
		rd.probes = append(rd.probes, name)
		return err
	},
	chunkRecord: func(rd *reader, p []byte) error {
		rec, err := rd.record(p)
		rd.steps = append(rd.steps, step{kind: chunkRecord, record: rec})
		return err
	},
	chunkEvent: (*reader).event,
	chunkTimer: func(rd *reader, p []byte) error {
		s := step{kind: chunkTimer}
		err := decodeJSON(p, &s.timer)
		rd.steps = append(rd.steps, s)
		return err
	},
	chunkDump: func(rd *reader, p []byte) error {
		var d dump
		err := decodeJSON(p, &d)
		if d.Records < 0 {
			return fmt.Errorf("%w: a dump of %d records", ErrDamaged, d.Records)
		}
		rd.dumps[d.Recorder] = append(rd.dumps[d.Recorder], dumped{want: d.Records, overwritten: d.Overwritten})
		rd.open = &rd.dumps[d.Recorder][len(rd.dumps[d.Recorder])-1]
		return err
	},
	chunkDumped: (*reader).dumped,
	chunkValues: (*reader).values,
	chunkAnswer: func(rd *reader, p []byte) error {
		var a answer
		err := decodeJSON(p, &a)
		last := &rd.steps[len(rd.steps)-1]
		last.answers = append(last.answers, a)
		return err
	},
	chunkFinish: func(rd *reader, _ []byte) error {
		rd.steps = append(rd.steps, step{kind: chunkFinish})
		return nil
	},
	chunkEnd: func(rd *reader, p []byte) error {
		var n uint64
		err := decodeJSON(p, &n)
		if err == nil && n != rd.chunks-1 {
			err = fmt.Errorf("%w: %d chunks, and there should be %d", ErrDamaged, rd.chunks-1, n)
		}
		rd.ended = true
		return err
	},
}

// decodeJSON decodes a payload; what is wrong with it is damage.
func decodeJSON(p []byte, to any) error {
	if err := json.Unmarshal(p, to); err != nil {
		return fmt.Errorf("%w: %v", ErrDamaged, err)
	}
	return nil
}

// format takes a format in. Printing trusts the printf formats of verified programs, so a file's are checked like a
// program's.
func (rd *reader) format(p []byte) error {
	f := &record.Format{}
	if err := decodeJSON(p, f); err != nil {
		return err
	}
	var kinds []value.Kind
	for i, field := range f.Fields {
		if field.Kind > value.KindBool {
			return fmt.Errorf("%w: field %d of a format has no kind", ErrDamaged, i)
		}
		kinds = append(kinds, field.Kind)
	}
	if f.Kind > record.ItemTrace {
		return fmt.Errorf("%w: a format of kind %d", ErrDamaged, f.Kind)
	}
	if f.Kind == record.ItemPrintf {
		if err := value.CheckPrintf(f.Text, kinds); err != nil {
			return fmt.Errorf("%w: %v", ErrDamaged, err)
		}
	}
	rd.formats = append(rd.formats, f)
	return nil
}

// record decodes a record, with the name of its probe.
func (rd *reader) record(p []byte) (script.Played, error) {
	d := decoder{p: p}
	probe, rec := d.record(rd.formats)
	if d.err == nil && probe >= len(rd.probes) {
		d.fail("a record of probe %d, and there are %d", probe, len(rd.probes))
	}
	if d.err != nil {
		return script.Played{}, d.err
	}
	name := rd.probes[probe]
	return script.Played{Probe: name.Name, Nth: name.Nth, Record: &rec}, nil
}

// event decodes an event. Numbers keep their types, which JSON does not distinguish.
func (rd *reader) event(p []byte) error {
	var in event
	if err := decodeJSON(p, &in); err != nil {
		return err
	}
	e := script.Event{Kind: in.Kind, Fields: map[string]any{}}
	for name, v := range in.Ints {
		e.Fields[name] = v
	}
	for name, v := range in.Uints {
		e.Fields[name] = v
	}
	for name, v := range in.Texts {
		e.Fields[name] = string(v)
	}
	for name, v := range in.Stacks {
		e.Fields[name] = v
	}
	for name, v := range in.Truths {
		e.Fields[name] = v
	}
	rd.steps = append(rd.steps, step{kind: chunkEvent, event: e})
	return nil
}

// dumped takes in one record of the dump that is open.
func (rd *reader) dumped(p []byte) error {
	if rd.open == nil || len(rd.open.records) >= rd.open.want {
		return fmt.Errorf("%w: a record of no dump", ErrDamaged)
	}
	rec, err := rd.record(p)
	rd.open.records = append(rd.open.records, rec)
	return err
}

// values takes in the values of objects.
func (rd *reader) values(p []byte) error {
	var list []snapshot
	if err := decodeJSON(p, &list); err != nil {
		return err
	}
	s := step{kind: chunkValues}
	for _, in := range list {
		out := rtsnapshot.Snapshot{Object: in.Object}
		for _, e := range in.Entries {
			e.Data.Text = string(e.Text)
			d := decoder{p: e.Key}
			var key []value.Value
			for len(d.p) > 0 && d.err == nil {
				key = append(key, d.value(value.Kind(d.p[0])))
			}
			if d.err != nil {
				return d.err
			}
			out.Entries = append(out.Entries, rtsnapshot.Entry{Key: key, Data: e.Data})
		}
		s.values = append(s.values, out)
	}
	rd.steps = append(rd.steps, s)
	return nil
}
