package shared

import (
	"fmt"
	"strings"

	"gotap/runtime"
)

// StateQuestion begins questions about objects that programs change. Their answers hold for one callback alone: in the next one, and
// for questions that the recorded run did not ask, the object itself has the answer.
const StateQuestion = "state "

// stateEntry is a runtime.Entry in JSON; its texts may hold any byte, which JSON would change.
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

// look is what read finds in an object, or what it found when the script was recorded. It calls read in either case, since that may
// change the object, as taking does.
func (t *Table) look(o Object, what string, read func() []runtime.Entry) []runtime.Entry {
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
func (t *Table) unpack(question string, raw []byte) []runtime.Entry {
	var list []stateEntry
	t.world.Read(question, raw, &list)
	out := make([]runtime.Entry, len(list))
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
func (t *Table) Get(o Object, key []runtime.Value) (runtime.Data, bool) {
	list := t.look(o, "get "+KeyText(key), func() []runtime.Entry {
		d, ok := o.Handle.Get(key...)
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

// Delete removes a key; it reports whether there was one.
func (t *Table) Delete(o Object, key []runtime.Value) bool {
	return len(t.look(o, "delete "+KeyText(key), func() []runtime.Entry {
		if o.Handle.Delete(key...) {
			return []runtime.Entry{{}}
		}
		return nil
	})) > 0
}

// Entries are all entries of an object.
func (t *Table) Entries(o Object) runtime.Snapshot {
	return t.gather(o, "entries", (*runtime.Handle).Entries)
}

// Take is Entries, and removes them.
func (t *Table) Take(o Object) runtime.Snapshot {
	return t.gather(o, "take", (*runtime.Handle).Take)
}

func (t *Table) gather(o Object, what string, collect func(*runtime.Handle) runtime.Snapshot) runtime.Snapshot {
	var snap runtime.Snapshot
	list := t.look(o, what, func() []runtime.Entry {
		snap = collect(o.Handle)
		return snap.Entries
	})
	snap.Entries = list
	return snap.Series()
}

// KeyText tells keys apart in questions.
func KeyText(key []runtime.Value) string {
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
