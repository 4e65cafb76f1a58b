package shared

import (
	"fmt"
	"math"
	"strings"

	"gotap/runtime/arena"
	"gotap/runtime/snapshot"
	"gotap/runtime/value"
)

// StateQuestion begins questions about objects that programs change. Their answers hold for one callback alone: in the
// next one, and for questions that the recorded run did not ask, the object itself has the answer.
const StateQuestion = "state "

// stateEntry is a snapshot.Entry in JSON; its texts may hold any byte, which JSON would change.
type stateEntry struct {
	Key  []stateValue `json:",omitempty"`
	Data snapshot.Data
	Text []byte `json:",omitempty"` // Data.Text

	Float uint64 `json:",omitempty"` // the bits of Data.Float, which may be infinite
}

type stateValue struct {
	value.Value
	Text []byte `json:",omitempty"`
}

func packEntry(e snapshot.Entry) stateEntry {
	out := stateEntry{Data: e.Data, Text: []byte(e.Data.Text)}
	out.Data.Text, out.Data.Float, out.Float = "", 0, math.Float64bits(e.Data.Float)
	for _, v := range e.Key {
		packed := stateValue{Value: v, Text: []byte(v.Text)}
		packed.Value.Text = ""
		out.Key = append(out.Key, packed)
	}
	return out
}

func (e stateEntry) unpack() snapshot.Entry {
	out := snapshot.Entry{Data: e.Data}
	out.Data.Text, out.Data.Float = string(e.Text), math.Float64frombits(e.Float)
	for _, v := range e.Key {
		v.Value.Text = string(v.Text)
		out.Key = append(out.Key, v.Value)
	}
	return out
}

// look returns what read finds in an object, or in a replay what it found in the recorded run. It calls read in either
// case, because read may change the object, as Take does.
func (t *Table) look(o Object, what string, read func() []snapshot.Entry) []snapshot.Entry {
	here := read()
	if !t.world.Journalled() || !t.Used(o.ID) {
		return here
	}
	question := fmt.Sprintf("%s%s %d %d %s", StateQuestion, what, o.Kind, t.nth(o), o.Name)
	if t.world.Replay != nil {
		if raw, known := t.world.Replay.Answer(question); known {
			return t.unpack(question, raw)
		}
		return here
	}
	list := make([]stateEntry, len(here))
	for i, e := range here {
		list[i] = packEntry(e)
	}
	t.world.Note(question, list, false)
	return here
}

// unpack reads a recorded answer of look.
func (t *Table) unpack(question string, raw []byte) []snapshot.Entry {
	var list []stateEntry
	t.world.Read(question, raw, &list)
	out := make([]snapshot.Entry, len(list))
	for i, e := range list {
		out[i] = e.unpack()
	}
	return out
}

// nth tells objects of one kind and name apart, in the same way in each run of the script.
func (t *Table) nth(o Object) (nth int) {
	for _, other := range t.List() {
		if other.ID == o.ID {
			break
		}
		if other.Name == o.Name && other.Kind == o.Kind {
			nth++
		}
	}
	return nth
}

// Get reads one key of an object.
func (t *Table) Get(o Object, key []value.Value) (snapshot.Data, bool) {
	list := t.look(o, "get "+KeyText(key), func() []snapshot.Entry {
		d, ok := o.Handle.Get(key...)
		if !ok {
			return nil
		}
		return []snapshot.Entry{{Data: d}}
	})
	if len(list) == 0 {
		return snapshot.Data{}, false
	}
	return list[0].Data, true
}

// Delete removes a key; it reports whether there was one.
func (t *Table) Delete(o Object, key []value.Value) bool {
	return len(t.look(o, "delete "+KeyText(key), func() []snapshot.Entry {
		if o.Handle.Delete(key...) {
			return []snapshot.Entry{{}}
		}
		return nil
	})) > 0
}

// Entries returns all entries of an object.
func (t *Table) Entries(o Object) snapshot.Snapshot {
	return t.gather(o, "entries", (*arena.Handle).Entries)
}

// Take is Entries, and removes them.
func (t *Table) Take(o Object) snapshot.Snapshot {
	return t.gather(o, "take", (*arena.Handle).Take)
}

func (t *Table) gather(o Object, what string, collect func(*arena.Handle) snapshot.Snapshot) snapshot.Snapshot {
	var snap snapshot.Snapshot
	list := t.look(o, what, func() []snapshot.Entry {
		snap = collect(o.Handle)
		return snap.Entries
	})
	snap.Entries = list
	return snap.Series()
}

// KeyText tells keys apart in questions.
func KeyText(key []value.Value) string {
	var b strings.Builder
	for _, v := range key {
		if v.Kind == value.KindText {
			fmt.Fprintf(&b, "%q,", v.Text)
			continue
		}
		fmt.Fprintf(&b, "%d,", v.Int)
	}
	return b.String()
}
