package runtime

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
)

// object is the Go side of a declared object. The data that programs change are in the arena.
type object struct {
	id   int
	kind ObjectKind // same as in decl; never changes
	desc []uint64   // its descriptor

	decl    atomic.Pointer[Object]  // as declared, later as refined; replaced as a whole
	storage atomic.Pointer[storage] // nil until the shape is known

	evictor evictor
	host    sync.Mutex // one host goroutine at a time reads or takes; never held while waiting for the arena's mutex
}

// storage holds the cells of an object of known shape.
type storage struct {
	Object         // refined
	shape  *shape  // nil: unkeyed
	table  table   // if keyed
	cells  [2]cell // if unkeyed; only banked kinds use the second one
	banked bool
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
	descHas       = uint64(1) << 32
)

// Declare declares an object and returns its ID. IDs count from 0. It is safe for concurrent use.
func (a *Arena) Declare(o Object) (id int, err error) {
	if err := o.check(); err != nil {
		return 0, fmt.Errorf("cannot declare %s: %w", o.label(), err)
	}
	if o.Kind < KindMap {
		o.Keys = 0
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	old := *a.objects.Load()
	if len(old) == maxObjects {
		return 0, fmt.Errorf("cannot declare %s: there are %d objects already", o.label(), maxObjects)
	}
	obj := &object{id: len(old), kind: o.Kind}
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
func (a *Arena) openLocked(obj *object) error {
	o := *obj.decl.Load()
	switch {
	case o.Kind == KindInt:
		obj.desc[descWord] = uint64(o.Init)
		return nil
	case o.Kind == KindArray:
		return a.openArrayLocked(obj, o)
	case o.Kind == KindPerThread:
		o.Keys, o.Max = 1, MaxThreads
		return a.openTableLocked(obj, o, []ValueKind{ValueInt})
	case o.Kind == KindTrail:
		o.Keys = 1
		return a.openTableLocked(obj, o, []ValueKind{ValueInt})
	case o.Kind == KindRecorder:
		return a.openRecorderLocked(obj, o)
	case o.Kind == KindSeries && o.Keys == 1:
		return a.openTableLocked(obj, o, []ValueKind{ValueInt})
	case o.Keys == 0:
		return a.openCellLocked(obj, o)
	}
	return nil
}

// check returns an error if a declaration is invalid.
func (o *Object) check() error {
	switch {
	case o.Kind > KindSeries:
		return errors.New("unknown kind of object")
	case o.Max < 0 || o.Max > MaxKeys:
		return fmt.Errorf("max is %d: it can be 1 to %d", o.Max, MaxKeys)
	case o.Keys > MaxKeyParts:
		return fmt.Errorf("keys is %d: a key has at most %d parts", o.Keys, MaxKeyParts)
	case o.Kind == KindMap && o.Keys == 0:
		return errors.New("a map has a key: keys is 0")
	case o.Kind == KindArray && (o.Size < 0 || o.Size > 1<<20):
		return fmt.Errorf("%d variables: there can be 0 to %d", o.Size, 1<<20)
	case o.Kind == KindTrail || o.Kind == KindRecorder:
		return o.checkDeferred()
	case o.Kind == KindLhist:
		return o.linear().check()
	case o.Kind == KindHist:
		return o.powers().check()
	case o.Kind == KindSeries:
		return o.checkSeries()
	}
	return nil
}

// check refuses divisions that are endless or have too many buckets.
func (l linear) check() error {
	switch {
	case l.step <= 0:
		return fmt.Errorf("the step is %d: it must be at least 1", l.step)
	case l.hi <= l.lo:
		return fmt.Errorf("the upper end %d is not above the lower end %d", l.hi, l.lo)
	case l.steps() > maxLinear:
		return fmt.Errorf("%d buckets: there can be %d, use a larger step", l.steps(), maxLinear)
	}
	return nil
}

// kindNames are the names of the kinds in the script language.
var kindNames = [...]string{"variable", "text", "variables", "perThread", "trail", "recorder", "map", "count", "sum", "min", "max", "avg", "stats", "hist", "lhist", "tseries"}

// String returns the kind's name in the script language.
func (k ObjectKind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("kind %d", k)
}

// label returns the name of an object for messages.
func (o *Object) label() string {
	if o.Name == "" {
		return "a " + o.Kind.String()
	}
	return o.Kind.String() + " " + o.Name
}

// Lookup returns an object as declared and refined, and the arena offset by which programs name it. For an unknown ID
// the offset is 0.
func (a *Arena) Lookup(id int) (Object, uint64) {
	obj := a.objectByID(id)
	if obj == nil {
		return Object{}, 0
	}
	return *obj.decl.Load(), a.descriptor(id)
}

// Objects returns the number of declared objects.
func (a *Arena) Objects() int { return len(*a.objects.Load()) }

func (a *Arena) descriptor(id int) uint64 { return objectTable + uint64(id)*objectSize }

func (a *Arena) objectByID(id int) *object {
	list := *a.objects.Load()
	if uint(id) >= uint(len(list)) {
		return nil
	}
	return list[id]
}

// objectAt returns the object that a program names by its offset, or nil if there is none.
func (a *Arena) objectAt(off uint64) *object {
	list := *a.objects.Load()
	id := (off - objectTable) / objectSize
	if off < objectTable || off%objectSize != 0 || id >= uint64(len(list)) {
		return nil
	}
	return list[id]
}

// Refine declares the key shape and value type that a use of an object needs, before the program with that use is
// lowered. The first use determines both, and memory is allocated then; later uses must agree. value counts only for
// maps; ValueAny agrees with everything. A key part of kind ValueAny leaves the shape open. It is safe for concurrent
// use.
func (a *Arena) Refine(id int, keys []ValueKind, value ValueKind) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	obj := a.objectByID(id)
	if obj == nil {
		return fmt.Errorf("cannot refine object %d: there is none", id)
	}
	o := *obj.decl.Load()
	if st := obj.storage.Load(); st != nil {
		return st.agrees(keys, value)
	}
	if err := o.agreesWith(keys); err != nil {
		return err
	}
	o.Keys = len(keys)
	if o.Kind == KindMap && value != ValueAny {
		o.Value = value
	}
	if o.Kind == KindMap && value == ValueAny || slices.Contains(keys, ValueAny) {
		obj.decl.Store(&o) // a type is still open; the object is empty until it is known
		return nil
	}
	if len(keys) == 0 {
		return a.openCellLocked(obj, o)
	}
	return a.openTableLocked(obj, o, keys)
}

// agreesWith compares the number of key parts of a use with the declaration.
func (o *Object) agreesWith(keys []ValueKind) error {
	switch {
	case o.Kind < KindMap:
		if len(keys) == 0 {
			return nil
		}
		return fmt.Errorf("%s has no keys", o.label())
	case o.Keys >= 0 && o.Keys != len(keys):
		return fmt.Errorf("%s has %s, not %s", o.label(), parts(o.Keys), parts(len(keys)))
	case o.Kind == KindMap && len(keys) == 0:
		return fmt.Errorf("%s needs a key", o.label())
	}
	return nil
}

// agrees compares a later use with the shape and type that the first one determined.
func (st *storage) agrees(keys []ValueKind, value ValueKind) error {
	if st.Kind < KindMap {
		if len(keys) == 0 {
			return nil
		}
		return fmt.Errorf("%s has no keys", st.label())
	}
	if st.shape == nil && len(keys) != 0 || st.shape != nil && len(keys) != len(st.shape.kinds) {
		return fmt.Errorf("%s is used with %s elsewhere, not with %s", st.label(), parts(st.Keys), parts(len(keys)))
	}
	if st.shape != nil {
		for i, k := range st.shape.kinds {
			if keys[i] != ValueAny && k.class() != keys[i].class() {
				return fmt.Errorf("part %d of the key of %s is %v elsewhere, not %v", i+1, st.label(), k, keys[i])
			}
		}
	}
	if st.Kind == KindMap && value != ValueAny && value.class() != st.Value.class() {
		return fmt.Errorf("the values of %s are %v elsewhere, not %v", st.label(), st.Value, value)
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
