package js

import (
	"sync"

	"gotap/compile"
)

// HeldTypes are the types of what shared variables, variables of threads and maps hold: of the values that the programs
// of a script store in them, as far as these have been compiled. An object of the arena has the type of the first value,
// until one of another type is stored. Its methods may be called from any goroutine.
type HeldTypes struct {
	mu       sync.Mutex
	objects  map[int]*heldType
	complete bool
}

// heldType is what is known of the values of one object.
type heldType struct {
	stored bool             // a value that has a type, at a place
	hinted bool             // a value that may have a type at its place
	mixed  bool             // values of several types, or of none
	used   bool             // members of the values were read
	ref    compile.TypeRef  // valid if stored
	blank  *compile.TypeRef // stands for the type without a place; nil: was not asked for
}

// Complete says that all programs were compiled without a place: objects of which nothing is known hold numbers.
func (h *HeldTypes) Complete() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.complete = true
}

// of returns what is known of an object. mu is held.
func (h *HeldTypes) of(object int) *heldType {
	if h.objects == nil {
		h.objects = map[int]*heldType{}
	}
	if h.objects[object] == nil {
		h.objects[object] = &heldType{}
	}
	return h.objects[object]
}

// Blank returns the type of an object where no place is known: one that fits each type, or nil if it holds numbers.
func (h *HeldTypes) Blank(object int) *compile.TypeRef {
	h.mu.Lock()
	defer h.mu.Unlock()
	o := h.of(object)
	if h.complete && !o.hinted {
		return nil
	}
	if o.blank == nil {
		o.blank = &compile.TypeRef{}
	}
	return o.blank
}

// Ref returns the type of what an object holds, or nil. With wanting, the type may be known later.
func (h *HeldTypes) Ref(object int) (ref *compile.TypeRef, wanting bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	o := h.of(object)
	if o.stored && !o.mixed {
		return &o.ref, false
	}
	return nil, o.hinted && !o.mixed
}

// Hint notes that a value is stored which may have a type at its place.
func (h *HeldTypes) Hint(object int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.of(object).hinted = true
}

// IsHinted reports whether a value that may have a type is stored in an object.
func (h *HeldTypes) IsHinted(object int) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.of(object).hinted
}

// Store notes that a value is stored at a place, of a type or, with nil, of none. It returns the type that the object
// has if that is another one, of which members were read already.
func (h *HeldTypes) Store(object int, ref *compile.TypeRef) (other *compile.TypeRef) {
	h.mu.Lock()
	defer h.mu.Unlock()
	o := h.of(object)
	switch {
	case ref != nil && o.stored && o.ref.Same(*ref) && o.ref.Module == ref.Module: // others may have types of the same name
	case ref != nil && !o.stored && !o.mixed:
		o.stored, o.ref = true, *ref
	case o.used && !o.mixed:
		return &o.ref
	default:
		o.mixed = true
	}
	return nil
}

// Use notes that members are read below a type, if it is the one of an object: it must not change any more. It returns
// the object where the type is a blank.
func (h *HeldTypes) Use(ref *compile.TypeRef) (object int, blank bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for id, o := range h.objects {
		switch ref {
		case &o.ref:
			o.used = true
			return id, false
		case o.blank:
			return id, ref != nil
		}
	}
	return 0, false
}
