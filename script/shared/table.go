package shared

import (
	"fmt"
	"slices"
	"sync"

	"gotap/runtime/arena"
	"gotap/runtime/object"
	"gotap/runtime/snapshot"
	"gotap/script/journal"
)

// Object is an object of the arena as the script declared it. Handle is nil when it could not be made.
type Object struct {
	object.Object
	ID     int
	Handle *arena.Handle
}

// HasValues reports whether the host can see values of an object: per-thread variables, trails and recorders have none.
func HasValues(o object.Object) bool {
	return o.Kind != object.KindPerThread && o.Kind != object.KindTrail && o.Kind != object.KindRecorder
}

// Table lists the objects of one version of a script.
type Table struct {
	arena    *arena.Arena
	world    *journal.World
	previous *Table
	taken    map[int]bool // objects of the previous version that this one has taken over

	// Used reports whether a program of the script uses an object; false while the script is loaded.
	Used func(id int) bool

	mu   sync.Mutex // guards list
	list []Object
}

// NewTable makes an empty table. previous is the table of the running version of a watched script, or nil.
func NewTable(arena *arena.Arena, world *journal.World, previous *Table) *Table {
	return &Table{arena: arena, world: world, previous: previous, taken: map[int]bool{}, Used: func(int) bool { return false }}
}

// Declare makes an object, or takes over the one of the previous version. A setting is a variable that nothing changes:
// it is taken over only if it begins with the same value, so that a new value in the text counts.
func (t *Table) Declare(o object.Object, setting bool) (made Object, adopted bool, err error) {
	id, adopted := t.adopt(o, setting)
	if !adopted {
		if id, err = t.arena.Declare(o); err != nil {
			return Object{Object: o}, false, err
		}
	}
	made = Object{o, id, t.arena.Handle(id)}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.list = append(t.list, made)
	return made, adopted, nil
}

// adopt finds an object of the previous version with the same name and type.
func (t *Table) adopt(o object.Object, setting bool) (int, bool) {
	if t.previous == nil || o.Name == "" {
		return 0, false
	}
	for _, old := range t.previous.list {
		if !t.taken[old.ID] && sameType(old.Object, o) && (!setting || old.Init == o.Init && old.Text == o.Text) {
			t.taken[old.ID] = true
			return old.ID, true
		}
	}
	return 0, false
}

// sameType compares declarations without the initial value.
func sameType(a, b object.Object) bool {
	a.Init, a.Text = b.Init, b.Text
	if a.Kind == object.KindMap {
		a.Value = b.Value
	}
	return a == b
}

// Adopted reports whether an object was taken over from the previous version.
func (t *Table) Adopted(id int) bool { return t.taken[id] }

// AnyAdopted reports whether any was.
func (t *Table) AnyAdopted() bool { return len(t.taken) > 0 }

// Renew makes an object again, empty, instead of one that was taken over.
func (t *Table) Renew(o *Object) error {
	id, err := t.arena.Declare(o.Object)
	if err != nil {
		return fmt.Errorf("cannot make %s again: %w", o.Name, err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.list {
		if t.list[i].ID == o.ID {
			t.list[i].ID, t.list[i].Handle = id, t.arena.Handle(id)
		}
	}
	o.ID, o.Handle = id, t.arena.Handle(id)
	return nil
}

// List returns a copy of the list, in the order of declaration.
func (t *Table) List() []Object {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.list)
}

// Values returns the present values of all objects that have any, in the order of declaration.
func (t *Table) Values() []snapshot.Snapshot { return t.values((*arena.Handle).Entries) }

// TakeValues is Values and Reset in one: what is added meanwhile is either in the result or stays.
func (t *Table) TakeValues() []snapshot.Snapshot { return t.values((*arena.Handle).Take) }

func (t *Table) values(read func(*arena.Handle) snapshot.Snapshot) []snapshot.Snapshot {
	list := t.List()
	values := make([]snapshot.Snapshot, 0, len(list))
	for _, o := range list {
		if HasValues(o.Object) {
			values = append(values, read(o.Handle))
		}
	}
	return values
}

// Reset sets all objects back to their first values.
func (t *Table) Reset() {
	for _, o := range t.List() {
		o.Handle.Clear()
	}
}

// UsedValues returns the values of the objects that programs use.
func (t *Table) UsedValues() (list []snapshot.Snapshot) {
	for _, o := range t.List() {
		if t.Used(o.ID) && HasValues(o.Object) {
			list = append(list, o.Handle.Entries())
		}
	}
	return list
}

// Restore gives objects the values that programs had given them. Objects that no program of the script uses are not
// changed: callbacks compute their values.
func (t *Table) Restore(list []snapshot.Snapshot) {
	done := map[int]bool{}
	objects := t.List()
	for _, snap := range list {
		i := slices.IndexFunc(objects, func(o Object) bool {
			return !done[o.ID] && o.Name == snap.Object.Name && o.Kind == snap.Object.Kind
		})
		if i < 0 {
			continue
		}
		if o := objects[i]; t.Used(o.ID) {
			o.Handle.Restore(snap) // an object whose shape has changed stays empty
		}
		done[objects[i].ID] = true
	}
}
