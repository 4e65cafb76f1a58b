package script

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"gotap/runtime"
)

// What callbacks see of the state that programs change, of the clock and of chance, goes through ask: when a recording is played
// no program runs and the time is another, and the callback has to find what it found then.

// StateQuestion begins questions about objects that programs change. Their answers hold for one callback alone: in the
// next, and for questions that the recorded run did not ask, the object itself has what there is.
const StateQuestion = "state "

// stateEntry is a runtime.Entry whose texts may hold any byte, which JSON would change.
type stateEntry struct {
	Key  []stateValue `json:",omitempty"`
	Data runtime.Data
	Text []byte `json:",omitempty"` // Data.Text
}

type stateValue struct {
	runtime.Value
	Text []byte `json:",omitempty"`
}

func packEntry(e runtime.Entry) stateEntry {
	out := stateEntry{Data: e.Data, Text: []byte(e.Data.Text)}
	out.Data.Text = ""
	for _, v := range e.Key {
		packed := stateValue{Value: v, Text: []byte(v.Text)}
		packed.Value.Text = ""
		out.Key = append(out.Key, packed)
	}
	return out
}

func (e stateEntry) unpack() runtime.Entry {
	out := runtime.Entry{Data: e.Data}
	out.Data.Text = string(e.Text)
	for _, v := range e.Key {
		v.Value.Text = string(v.Text)
		out.Key = append(out.Key, v.Value)
	}
	return out
}

// looked gives what look finds in an object, or what it found when the script was recorded. look is called in either case: it may
// change the object, as take does.
func (s *Script) looked(o runtime.Object, id int, what string, look func() []runtime.Entry) []runtime.Entry {
	here := look()
	if s.opts.Journal == nil && s.opts.Replay == nil || s.loading || !s.usedByPrograms(id) {
		return here
	}
	question := fmt.Sprintf("%s%s %d %d %s", StateQuestion, what, o.Kind, s.nthShared(o, id), o.Name)
	if s.opts.Replay != nil {
		if raw, known := s.opts.Replay.Answer(question); known {
			return s.unpack(question, raw)
		}
		return here
	}
	list := make([]stateEntry, len(here))
	for i, e := range here {
		list[i] = packEntry(e)
	}
	if raw, err := json.Marshal(list); err == nil { // floats that are no numbers have no form in JSON
		s.opts.Journal.Answer(question, raw, false)
	}
	return here
}

// unpack reads a recorded answer of looked.
func (s *Script) unpack(question string, raw []byte) []runtime.Entry {
	var list []stateEntry
	if err := json.Unmarshal(raw, &list); err != nil {
		s.throwf("cannot read the recorded answer to %s: %v", question, err)
	}
	out := make([]runtime.Entry, len(list))
	for i, e := range list {
		out[i] = e.unpack()
	}
	return out
}

// lookAt is a look at one key of an object.
func (s *Script) lookAt(o runtime.Object, id int, h *runtime.Handle, key []runtime.Value) (runtime.Data, bool) {
	list := s.looked(o, id, "get "+keyText(key), func() []runtime.Entry {
		d, ok := h.Get(key...)
		if !ok {
			return nil
		}
		return []runtime.Entry{{Data: d}}
	})
	if len(list) == 0 {
		return runtime.Data{}, false
	}
	return list[0].Data, true
}

// content is all that an aggregate holds.
func (s *Script) content(a *aggregate) runtime.Snapshot {
	return s.gather(a, "entries", (*runtime.Handle).Entries)
}

// takeAll is the same, and leaves nothing.
func (s *Script) takeAll(a *aggregate) runtime.Snapshot {
	return s.gather(a, "take", (*runtime.Handle).Take)
}

func (s *Script) gather(a *aggregate, what string, collect func(*runtime.Handle) runtime.Snapshot) runtime.Snapshot {
	var snap runtime.Snapshot
	list := s.looked(a.object, a.id, what, func() []runtime.Entry {
		snap = collect(a.handle)
		return snap.Entries
	})
	snap.Entries = list
	return snap.Series()
}

// keyText tells keys apart in questions.
func keyText(key []runtime.Value) string {
	var b strings.Builder
	for _, v := range key {
		if v.Kind == runtime.ValueText {
			fmt.Fprintf(&b, "%q,", v.Text)
			continue
		}
		fmt.Fprintf(&b, "%d,", v.Int)
	}
	return b.String()
}

// usedByPrograms reports whether a program of the script uses an object. Objects come into use when probes are declared only.
func (s *Script) usedByPrograms(id int) bool {
	if s.used == nil || s.usedOf != len(s.probes) {
		s.used, s.usedOf = s.programObjects(), len(s.probes)
	}
	return s.used[id]
}

// nthShared tells objects of one kind and name apart, from one run of the script to the next.
func (s *Script) nthShared(o runtime.Object, id int) (nth int) {
	for _, other := range s.sharedList() {
		if other.id == id {
			break
		}
		if other.object.Name == o.Name && other.object.Kind == o.Kind {
			nth++
		}
	}
	return nth
}

// clock is the time that new Date and Date.now see. Where the recording has none it is the present.
func (s *Script) clock() time.Time {
	ns := ask(s, func() string { return "clock" }, false, func() int64 { return time.Now().UnixNano() })
	if ns == 0 {
		return time.Now()
	}
	return time.Unix(0, ns)
}

// chance is what Math.random gives.
func (s *Script) chance() float64 {
	return ask(s, func() string { return "random" }, false, rand.Float64)
}
