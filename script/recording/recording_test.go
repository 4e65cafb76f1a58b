package recording

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gotap/runtime/object"
	"gotap/runtime/outcome"
	"gotap/runtime/record"
	rtsnapshot "gotap/runtime/snapshot"
	"gotap/runtime/value"
	"gotap/script"
	"gotap/script/output"
)

// everything is a record with a field of each kind.
func everything() *record.Record {
	kinds := []value.Kind{value.KindInt, value.KindUint, value.KindFloat, value.KindText, value.KindBytes, value.KindStack, value.KindBool}
	f := &record.Format{Kind: record.ItemEvent, Fields: []record.Field{{Name: "t", Literal: "lit", IsLiteral: true, Kind: value.KindText}}}
	for i, k := range kinds {
		f.Fields = append(f.Fields, record.Field{Name: string(rune('a' + i)), Kind: k, Part: i})
	}
	return &record.Record{
		Header: record.Header{Pid: 7, Tid: 8, Time: 1 << 60, Flags: record.FlagEvent, Kind: outcome.ExitEvent, Comm: [16]byte{'p', 'r', 'o', 'g'}},
		Items: []record.Item{{Format: f, Values: []value.Value{
			value.Int(math.MinInt64), {Kind: value.KindUint, Int: -1}, {Kind: value.KindFloat, Float: -1.5}, {Kind: value.KindText, Text: "cut\xff", Cut: true},
			{Kind: value.KindBytes, Text: "\x00\x01"}, {Kind: value.KindStack, Int: 7, Stack: []uint64{1, 1 << 63}}, {Kind: value.KindBool, Int: 1},
		}}},
	}
}

// number is a record that logs one number.
var numberFormat = record.Format{Kind: record.ItemEvent, Fields: []record.Field{{Name: "n", Kind: value.KindInt}}}

func number(n int64) *record.Record {
	return &record.Record{Header: record.Header{Pid: 1, Tid: 2, Time: uint64(n)}, Items: []record.Item{{Format: &numberFormat, Values: []value.Value{value.Int(n)}}}}
}

// written is a recording of all that can be in one.
func written(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	w := NewWriter(&b, "a.js", map[string]string{"big": "4"})
	w.Answer("env HOME", []byte(`"/root"`), false)
	w.Record(script.Played{Probe: "f", Record: everything()})
	w.Answer("stack 7 [1]", []byte(`[{"Func":"main"}]`), true)
	w.Answer("stack 7 [1]", []byte(`[{"Func":"main"}]`), true)
	for n := range int64(4) {
		w.Record(script.Played{Probe: "f", Nth: int(n % 2), Record: number(n)})
	}
	w.Event(script.Event{Kind: "signal", Fields: map[string]any{"pid": int64(7), "signal": int64(10), "time": uint64(math.MaxUint64), "path": "/\xff", "core": true, "stack": []uint64{1, math.MaxUint64}}})
	w.Dump("ring", []script.Played{{Probe: "f", Record: number(5)}, {Probe: "gone", Record: number(6)}}, 3)
	min := int64(4)
	w.Values([]rtsnapshot.Snapshot{
		{Object: object.Object{Name: "calls", Kind: object.KindCount}, Entries: []rtsnapshot.Entry{{Data: rtsnapshot.Data{Count: 9, Int: 9}}}},
		{Object: object.Object{Name: "sizes", Kind: object.KindHist, Keys: 1}, Entries: []rtsnapshot.Entry{
			{Key: []value.Value{value.Text("k\xff")}, Data: rtsnapshot.Data{Buckets: []rtsnapshot.Bucket{{Min: &min, Count: 3}}}}}},
	})
	w.Timer(0)
	w.End()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestRoundTrip: what is read is what was written.
func TestRoundTrip(t *testing.T) {
	rec, err := Read(bytes.NewReader(written(t)))
	if err != nil {
		t.Fatal(err)
	}
	if rec.Script != "a.js" || rec.Args["big"] != "4" || len(rec.steps[0].answers) != 1 || len(rec.steps[1].answers) != 1 {
		t.Errorf("%+v", rec)
	}
	if got := rec.steps[1].record; !reflect.DeepEqual(got.Record, everything()) || got.Probe != "f" {
		t.Errorf("read\n%+v\nwant\n%+v", got.Record, everything())
	}
	var kinds []byte
	for _, s := range rec.steps[1:] {
		kinds = append(kinds, s.kind)
	}
	if string(kinds) != "RRRRRLVTX" {
		t.Errorf("steps are %s", kinds)
	}
	if e := rec.steps[6].event; e.Fields["time"] != uint64(math.MaxUint64) || e.Fields["path"] != "/\xff" || e.Fields["core"] != true || e.Fields["signal"] != int64(10) ||
		!slices.Equal(e.Fields["stack"].([]uint64), []uint64{1, math.MaxUint64}) {
		t.Errorf("%+v", e)
	}
	if v := rec.steps[7].values[1]; v.Entries[0].Key[0].Text != "k\xff" || *v.Entries[0].Data.Buckets[0].Min != 4 {
		t.Errorf("%+v", v)
	}
}

// play loads a script and plays the recording to it.
func play(t *testing.T, file []byte, text string) (*script.Script, *Player, string) {
	t.Helper()
	rec, err := Read(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	p := rec.Player(out.String)
	s, list := script.Load(script.Options{Name: "a.js", Text: text, Output: output.NewText(&out, &errs), Replay: p})
	if err := list.Err(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	p.Play(s)
	if errs.Len() > 0 {
		t.Log(errs.String())
	}
	return s, p, out.String()
}

const playedScript = `
const calls = count("calls"), sizes = hist("sizes", { keys: 1 }), mine = sum("mine");
const home = env("HOME");
const ring = recorder({ on: "SIGUSR1" });
probe("f", { enter(c) { calls.inc(); sizes.at(str(c.arg0)).add(1); exit({ n: c.arg0 }); }, exit(e) { if (e.n !== undefined) { mine.add(e.n); console.log("first", e.n, e.time); } else console.log(e.c, e.pid, e.comm); } });
probe("f", { enter(c) { exit({ n: c.arg0 }); }, exit(e) { console.log("second", e.n); } });
every("1s", () => console.log("timer", calls.get()));
on("signal", e => console.log("signal", e.signal));
end(() => console.log("end", home, readFile("/etc/passwd"), calls.get()));
test("all", () => {
  expect(mine.get()).toBe(7);
  expect(calls.get()).toBe(9);
  expect(printed()).toContain("end /root undefined 9");
  expect(printed()).toContain("@mine: 7");
});
test("wrong", () => { expect(1).toBe(2); expect("x").not.toMatch(/x/); });
`

func TestPlay(t *testing.T) {
	s, p, out := play(t, written(t), playedScript)
	want := `-1.5 7 prog
first 0 0
second 1
first 2 2
second 3
signal 10
--- recorder ring, SIGUSR1 of process 7: the last 1 of 4 records
first 5 5
--- end of recorder ring
timer 9
end /root undefined 9
`
	if !strings.HasPrefix(out, want) {
		t.Errorf("printed\n%s\nwant\n%s", out, want)
	}
	v := s.Verdict()
	if !reflect.DeepEqual(v.Failed, []bool{false, true}) || v.Passed != 4 || len(v.Failures) != 2 ||
		v.Failures[0].Span.Source.Position(v.Failures[0].Span.Start).Line != 16 {
		t.Errorf("%+v", v)
	}
	if len(p.Missing()) != 0 {
		t.Error(p.Missing())
	}
	_, p, _ = play(t, written(t), `probe("g", c => exit({}));`)
	if p.Missing()["f"] != 5 {
		t.Error(p.Missing())
	}
}

// TestNormalRunsIgnoreExpectations: without a recording nothing is checked, and no test is called.
func TestNormalRunsIgnoreExpectations(t *testing.T) {
	s, list := script.Load(script.Options{Name: "a.js", Text: `expect(1).toBe(2); test("x", () => { throw 1; }); if (printed() !== "") throw 1;`})
	if s == nil {
		t.Fatal(list)
	}
	defer s.Close()
	s.Begin()
	s.End()
	if v := s.Verdict(); len(v.Tests)+len(v.Failures)+v.Passed > 0 || s.Faults() > 0 {
		t.Errorf("%+v", v)
	}
}

// TestRefused: each way to be no recording has its own error.
func TestRefused(t *testing.T) {
	good := written(t)
	changed := func(change func(p []byte) []byte) []byte { return change(append([]byte(nil), good...)) }
	for name, c := range map[string]struct {
		file []byte
		want error
	}{
		"empty":            {nil, ErrNoRecording},
		"another file":     {[]byte("\x7fELF and so on"), ErrNoRecording},
		"newer":            {bytes.Replace(good, []byte("recording 1\n"), []byte("recording 2\n"), 1), ErrVersion},
		"no version":       {bytes.Replace(good, []byte("recording 1\n"), []byte("recording x\n"), 1), ErrNoRecording},
		"a flipped bit":    {changed(func(p []byte) []byte { p[len(p)/2] ^= 4; return p }), nil},
		"something behind": {append(changed(func(p []byte) []byte { return p }), 0), ErrDamaged},
		"a long chunk":     {changed(func(p []byte) []byte { binary.LittleEndian.PutUint32(p[len(magic)+3:], maxChunk+1); return p }), ErrDamaged},
		"a chunk too few":  {without(good, chunkProbe), ErrDamaged},
		"no head":          {without(good, chunkHead), ErrDamaged},
		"no format":        {without(good, chunkFormat), ErrDamaged},
		"half a dump":      {without(good, chunkDumped), ErrDamaged},
	} {
		_, err := Read(bytes.NewReader(c.file))
		if err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	for n := 1; n < len(good); n++ {
		if _, err := Read(bytes.NewReader(good[:n])); !errors.Is(err, ErrCut) {
			t.Fatalf("cut after %d bytes: %v", n, err)
		}
	}
}

// without is a file without the first chunk of a kind.
func without(file []byte, kind byte) []byte {
	out := append([]byte(nil), file[:len(magic)+2]...)
	for rest := file[len(out):]; len(rest) > 0; {
		k, payload, next, err := split(rest)
		if err != nil {
			panic(err)
		}
		if k != kind {
			out = append(out, rest[:len(payload)+overhead]...)
		} else {
			kind = 0
		}
		rest = next
	}
	return out
}

// TestFullRecording: what has no room is counted, and what is there can be read.
func TestFullRecording(t *testing.T) {
	var b bytes.Buffer
	w := NewWriter(&b, "a.js", nil)
	w.size = MaxSize - reserve - 200
	for n := range int64(100) {
		w.Record(script.Played{Probe: "f", Record: number(n)})
	}
	for range 200 {
		w.Event(script.Event{Kind: "thread", Fields: map[string]any{"child": int64(1)}})
		w.Timer(0)
	}
	w.Dump("ring", []script.Played{{Probe: "f", Record: number(1)}, {Probe: "f", Record: number(2)}}, 0)
	if w.size > MaxSize-reserve+100 { // but for the head of the dump
		t.Errorf("%d bytes were written into the room for the end", w.size-MaxSize+reserve)
	}
	w.End()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	rec, err := Read(&b)
	if err != nil || w.Dropped() == 0 || len(rec.steps)-2+int(w.Dropped()) != 502 {
		t.Errorf("%v: dropped %d of 502, read %d", err, w.Dropped(), len(rec.steps)-2)
	}
}

// FuzzRead: no file makes reading panic. Checksums are made right, so that the fuzzer comes behind them.
func FuzzRead(f *testing.F) {
	f.Add(written(f), true)
	f.Add(without(written(f), chunkFinish), true)
	f.Fuzz(func(t *testing.T, file []byte, mend bool) {
		if mend {
			file = mended(file)
		}
		Read(bytes.NewReader(file))
	})
}

// TestPlayingDamage: what is wrong with a file in spite of right checksums is refused, or harms nobody when it is
// played.
func TestPlayingDamage(t *testing.T) {
	good, r, played := written(t), rand.New(rand.NewPCG(1, 2)), 0
	for range 400 {
		file := append([]byte(nil), good...)
		for range 1 + r.IntN(3) {
			file[len(magic)+2+r.IntN(len(file)-len(magic)-2)] = byte(r.UintN(256))
		}
		rec, err := Read(bytes.NewReader(mended(file)))
		if err != nil {
			continue
		}
		p := rec.Player(func() string { return "" })
		s, list := script.Load(script.Options{Name: "a.js", Text: playedScript, Output: output.Discard, Replay: p})
		if s == nil { // a recorded answer that the script asked for while it was loaded is no value any more
			if list.Err() == nil {
				t.Fatal("neither a script nor an error")
			}
			continue
		}
		p.Play(s)
		s.Close()
		played++
	}
	if played == 0 {
		t.Error("no damaged file could be played: the test does not reach what it is for")
	}
}

// mended is a file with the right checksums and count.
func mended(file []byte) []byte {
	head := len(magic) + 2
	if len(file) < head {
		return file
	}
	out, chunks := append([]byte(nil), file[:head]...), 0
	for rest := file[head:]; len(rest) >= overhead; chunks++ {
		n := int(binary.LittleEndian.Uint32(rest[1:]) % 4096)
		n = min(n, len(rest)-overhead)
		out = appendChunk(out, rest[0], rest[5:5+n])
		rest = rest[n+overhead:]
	}
	return out
}
