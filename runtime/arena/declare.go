package arena

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"gotap/runtime/key"
	"gotap/runtime/object"
	"gotap/runtime/value"
)

// Instance is the Go side of a declared object. The data that programs change are in the arena.
type Instance struct {
	id   int
	kind object.Kind // same as in decl; never changes
	desc []uint64    // its descriptor

	decl    atomic.Pointer[object.Object] // as declared, later as refined; replaced as a whole
	storage atomic.Pointer[Storage]       // nil until the shape is known

	evictor evictor
	host    sync.Mutex // one host goroutine at a time reads or takes; never held while waiting for the arena's mutex
}

// Storage holds the cells of an object of known shape.
type Storage struct {
	object.Object            // refined
	obj           *Instance  // whose storage it is
	shape         *key.Shape // nil: unkeyed
	table         table      // if keyed
	cells         [2]cell    // if unkeyed; only banked kinds use the second one
	banked        bool
	spread        *spread // KindStats: where its buckets are
	share         *Share  // unkeyed aggregations that only add, one word at a time; nil: others
	keyShare      *KeyShare
}

type cell = []uint64

// Words of an object's descriptor.
const (
	descKind      = 0 // kind | full<<8 | value<<16 | key parts<<24, and 1<<32 once there is a body
	descWord      = 1 // KindInt: the value; banked aggregations: the bank in use, and the pins
	descBody      = 2 // arena offset of the cells, or of the table
	descSlots     = 3 // slots of the table
	descKeyWords  = 4
	descCellWords = 5
	descUsed      = 6
	descLimit     = 7
	descClock     = 8
	descDropped   = 9  // additions dropped because there was no room for the key
	descEvicted   = 10 // keys evicted to make room
	descContended = 11 // updates given up because another thread blocked them
	descUnsorted  = 12 // values of stats that quantiles do not know
	descHas       = uint64(1) << 32
)

// Declare declares an object and returns its ID. IDs count from 0. It is safe for concurrent use.
func (a *Arena) Declare(o object.Object) (id int, err error) {
	if err := o.Check(); err != nil {
		return 0, fmt.Errorf("cannot declare %s: %w", o.Label(), err)
	}
	if o.Kind < object.KindMap {
		o.Keys = 0
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	old := *a.objects.Load()
	if len(old) == maxObjects {
		return 0, fmt.Errorf("cannot declare %s: there are %d objects already", o.Label(), maxObjects)
	}
	obj := &Instance{id: len(old), kind: o.Kind}
	obj.desc = a.words[a.descriptor(obj.id)/8:][:objectSize/8]
	obj.decl.Store(&o)
	obj.desc[descKind] = uint64(o.Kind) | uint64(o.Full)<<8
	if err := a.openLocked(obj); err != nil {
		return 0, err
	}
	list := append(old, obj) // readers do not look beyond the length that they loaded
	a.objects.Store(&list)
	atomic.StoreUint64(&a.words[wordObjects], uint64(len(list)))
	return obj.id, nil
}

// openLocked allocates the storage of an object immediately if its shape does not depend on a program.
func (a *Arena) openLocked(obj *Instance) error {
	o := *obj.decl.Load()
	switch {
	case o.Kind == object.KindInt:
		obj.desc[descWord] = uint64(o.Init)
		return nil
	case o.Kind == object.KindArray:
		return a.openArrayLocked(obj, o)
	case o.Kind == object.KindPerThread:
		o.Keys, o.Max = 1, object.MaxThreads
		return a.openTableLocked(obj, o, []value.Kind{value.KindInt})
	case o.Kind == object.KindTrail:
		o.Keys = 1
		return a.openTableLocked(obj, o, []value.Kind{value.KindInt})
	case o.Kind == object.KindRecorder:
		return a.openRecorderLocked(obj, o)
	case o.Kind == object.KindSeries && o.Keys == 1:
		return a.openTableLocked(obj, o, []value.Kind{value.KindInt})
	case o.Keys == 0:
		return a.openCellLocked(obj, o)
	}
	return nil
}

// Lookup returns an object as declared and refined, and the arena offset by which programs name it. For an unknown ID
// the offset is 0.
func (a *Arena) Lookup(id int) (object.Object, uint64) {
	obj := a.objectByID(id)
	if obj == nil {
		return object.Object{}, 0
	}
	return *obj.decl.Load(), a.descriptor(id)
}

// Decided reports whether a use of an object has determined the type of its values.
func (a *Arena) Decided(id int) bool {
	obj := a.objectByID(id)
	return obj != nil && obj.storage.Load() != nil
}

// Objects returns the number of declared objects.
func (a *Arena) Objects() int { return len(*a.objects.Load()) }

func (a *Arena) descriptor(id int) uint64 { return objectTable + uint64(id)*objectSize }

func (a *Arena) objectByID(id int) *Instance {
	list := *a.objects.Load()
	if uint(id) >= uint(len(list)) {
		return nil
	}
	return list[id]
}

// At returns the object that a program names by its offset, or nil if there is none.
func (a *Arena) At(off uint64) *Instance {
	list := *a.objects.Load()
	id := (off - objectTable) / objectSize
	if off < objectTable || off%objectSize != 0 || id >= uint64(len(list)) {
		return nil
	}
	return list[id]
}

// Refine declares the key shape and value type that a use of an object needs, before the program with that use is
// lowered. The first use determines both, and memory is allocated then; later uses must agree. value counts only for
// maps; value.KindAny agrees with everything. A key part of kind value.KindAny leaves the shape open. It is safe for
// concurrent use.
func (a *Arena) Refine(id int, keys []value.Kind, v value.Kind) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	obj := a.objectByID(id)
	if obj == nil {
		return fmt.Errorf("cannot refine object %d: there is none", id)
	}
	o := *obj.decl.Load()
	if st := obj.storage.Load(); st != nil {
		return st.agrees(keys, v)
	}
	if err := agreesWith(&o, keys); err != nil {
		return err
	}
	o.Keys = len(keys)
	if o.Kind == object.KindMap && v != value.KindAny {
		o.Value = v
	}
	if o.Kind == object.KindMap && v == value.KindAny || slices.Contains(keys, value.KindAny) {
		obj.decl.Store(&o) // a type is still open; the object is empty until it is known
		return nil
	}
	if len(keys) == 0 {
		return a.openCellLocked(obj, o)
	}
	return a.openTableLocked(obj, o, keys)
}

// agreesWith compares the number of key parts of a use with the declaration.
func agreesWith(o *object.Object, keys []value.Kind) error {
	switch {
	case o.Kind < object.KindMap:
		if len(keys) == 0 {
			return nil
		}
		return fmt.Errorf("%s has no keys", o.Label())
	case o.Keys >= 0 && o.Keys != len(keys):
		return fmt.Errorf("%s has %s, not %s", o.Label(), parts(o.Keys), parts(len(keys)))
	case o.Kind == object.KindMap && len(keys) == 0:
		return fmt.Errorf("%s needs a key", o.Label())
	}
	return nil
}

// agrees compares a later use with the shape and type that the first one determined.
func (st *Storage) agrees(keys []value.Kind, v value.Kind) error {
	if st.Kind < object.KindMap {
		if len(keys) == 0 {
			return nil
		}
		return fmt.Errorf("%s has no keys", st.Label())
	}
	if st.shape == nil && len(keys) != 0 || st.shape != nil && len(keys) != len(st.shape.Kinds) {
		return fmt.Errorf("%s is used with %s elsewhere, not with %s", st.Label(), parts(st.Keys), parts(len(keys)))
	}
	if st.shape != nil {
		for i, k := range st.shape.Kinds {
			if keys[i] != value.KindAny && k.Class() != keys[i].Class() {
				return fmt.Errorf("part %d of the key of %s is %v elsewhere, not %v", i+1, st.Label(), k, keys[i])
			}
		}
	}
	if st.Kind == object.KindMap && v != value.KindAny && v.Class() != st.Value.Class() {
		return fmt.Errorf("the values of %s are %v elsewhere, not %v", st.Label(), st.Value, v)
	}
	return nil
}

// parts returns a number of key parts in words.
func parts(n int) string {
	switch n {
	case 0:
		return "no key"
	case 1:
		return "a key of 1 part"
	}
	return fmt.Sprintf("a key of %d parts", n)
}
