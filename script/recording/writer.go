package recording

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"

	"gotap/runtime/record"
	rtsnapshot "gotap/runtime/snapshot"
	"gotap/script"
)

// Writer writes a recording. It implements script.Journal. Its methods are called on the host's goroutine, Close after
// that has ended.
type Writer struct {
	w       *bufio.Writer
	err     error // the first; nothing is written after it
	size    int
	chunks  uint64
	dropped uint64 // records, events, timers and answers that the file had no room for
	formats map[*record.Format]int
	probes  map[probeName]int
	steady  map[string]string // answers that never change, and have been written
	scratch []byte
	frame   []byte
}

var _ script.Journal = (*Writer)(nil)

// NewWriter begins a recording of a script that was given arguments.
func NewWriter(w io.Writer, name string, args map[string]string) *Writer {
	r := &Writer{w: bufio.NewWriterSize(w, 64<<10), formats: map[*record.Format]int{}, probes: map[probeName]int{}, steady: map[string]string{}}
	n, err := fmt.Fprintf(r.w, "%s%d\n", magic, Version)
	r.size, r.err = n, err
	r.json(chunkHead, head{name, args})
	return r
}

// reserve is the room that is kept for the last chunks: the values at the end, and the end.
const reserve = 2 * maxChunk

// room reports whether so many bytes more still fit.
func (r *Writer) room(n int) bool { return r.size+n+overhead <= MaxSize-reserve }

// chunk writes one chunk.
func (r *Writer) chunk(kind byte, payload []byte) {
	if r.err != nil {
		return
	}
	if len(payload) > maxChunk { // it could not be read
		r.dropped++
		return
	}
	r.frame = appendChunk(r.frame[:0], kind, payload)
	_, r.err = r.w.Write(r.frame)
	r.size += len(r.frame)
	r.chunks++
}

// json writes a chunk that a reader needs: other chunks refer to it, or the reader requires it.
func (r *Writer) json(kind byte, v any) {
	payload, err := json.Marshal(v)
	if err != nil && r.err == nil {
		r.err = err
	}
	r.chunk(kind, payload)
}

// ifRoom writes what happens any number of times: a file that grows beyond what can be read would be lost as a whole.
func (r *Writer) ifRoom(kind byte, v any) {
	payload, err := json.Marshal(v)
	if err != nil || !r.room(len(payload)) {
		r.dropped++
		return
	}
	r.chunk(kind, payload)
}

// Record writes a record.
func (r *Writer) Record(p script.Played) {
	r.scratch = appendRecord(r.scratch[:0], r.probe(probeName{p.Probe, p.Nth}), p.Record, r.format)
	if !r.room(len(r.scratch)) {
		r.dropped++
		return
	}
	r.chunk(chunkRecord, r.scratch)
}

// probe returns the number of a probe, which is written when it is new.
func (r *Writer) probe(name probeName) int { return numberOf(r, r.probes, chunkProbe, name) }

// format returns the number of a format, which is written when it is new.
func (r *Writer) format(f *record.Format) int { return numberOf(r, r.formats, chunkFormat, f) }

// numberOf returns the number of a thing in its table. A new thing gets the next number and is written as a chunk.
func numberOf[K comparable](r *Writer, table map[K]int, kind byte, thing K) int {
	n, known := table[thing]
	if !known {
		n = len(table)
		table[thing] = n
		r.json(kind, thing)
	}
	return n
}

// Event writes an event of a process.
func (r *Writer) Event(e script.Event) {
	out := event{Kind: e.Kind, Ints: map[string]int64{}, Uints: map[string]uint64{}, Texts: map[string][]byte{}, Stacks: map[string][]uint64{}, Truths: map[string]bool{}}
	for name, v := range e.Fields {
		switch v := v.(type) {
		case int64:
			out.Ints[name] = v
		case uint64:
			out.Uints[name] = v
		case string:
			out.Texts[name] = []byte(v)
		case []uint64:
			out.Stacks[name] = v
		case bool:
			out.Truths[name] = v
		default:
			out.Unknown = append(out.Unknown, name)
		}
	}
	r.ifRoom(chunkEvent, out)
}

// Timer writes that a timer was called.
func (r *Writer) Timer(nth int) { r.ifRoom(chunkTimer, nth) }

// Dump writes what a recorder held.
func (r *Writer) Dump(recorder string, records []script.Played, overwritten uint64) {
	var encoded [][]byte
	size := 0
	for i := range records {
		p := appendRecord(nil, r.probe(probeName{records[i].Probe, records[i].Nth}), records[i].Record, r.format)
		if size += len(p) + overhead; !r.room(size) {
			r.dropped += uint64(len(records) - i)
			break
		}
		encoded = append(encoded, p)
	}
	r.json(chunkDump, dump{recorder, len(encoded), overwritten})
	for _, p := range encoded {
		r.chunk(chunkDumped, p)
	}
}

// Values writes the values of objects. Those of an object that does not fit into a chunk are left out.
func (r *Writer) Values(list []rtsnapshot.Snapshot) {
	out := make([]snapshot, 0, len(list))
	for _, s := range list {
		out = append(out, encodeSnapshot(s))
	}
	payload, err := json.Marshal(out)
	if err != nil || !r.room(len(payload)-reserve/2) || len(payload) > maxChunk {
		r.dropped++
		return
	}
	r.chunk(chunkValues, payload)
}

// encodeSnapshot encodes texts apart from the JSON, which would change bytes that are not UTF-8.
func encodeSnapshot(s rtsnapshot.Snapshot) snapshot {
	out := snapshot{Object: s.Object}
	for _, e := range s.Entries {
		var key []byte
		for _, v := range e.Key {
			key = appendValue(key, v)
		}
		text := []byte(e.Data.Text)
		e.Data.Text = ""
		out.Entries = append(out.Entries, entry{key, e.Data, text})
	}
	return out
}

// Answer writes an answer; a steady one once.
func (r *Writer) Answer(question string, a []byte, steady bool) {
	if steady {
		if r.steady[question] == string(a) {
			return
		}
		r.steady[question] = string(a)
	}
	r.ifRoom(chunkAnswer, answer{question, a})
}

// End writes that the end callbacks are next.
func (r *Writer) End() { r.json(chunkFinish, nil) }

// Dropped counts what the file had no room for.
func (r *Writer) Dropped() uint64 { return r.dropped }

// Close completes the recording. Without it the file is refused as cut short. It does not close the file.
func (r *Writer) Close() error {
	r.json(chunkEnd, r.chunks)
	if r.err == nil {
		r.err = r.w.Flush()
	}
	if r.err != nil {
		return fmt.Errorf("cannot write the recording: %w", r.err)
	}
	return nil
}
