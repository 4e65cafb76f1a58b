package js

import (
	"sync"
	"testing"

	"gotap/compile"
)

// TestHeldTypes: an object has the type of what is stored in it, until another one is stored; once members were read,
// no other may be.
func TestHeldTypes(t *testing.T) {
	job, task := &compile.TypeRef{Name: "struct job*"}, &compile.TypeRef{Name: "struct task*"}
	var h HeldTypes
	check := func(what string, object int, want *compile.TypeRef, wantWanting bool) {
		t.Helper()
		got, wanting := h.Ref(object)
		if (got == nil) != (want == nil) || got != nil && !got.Same(*want) || wanting != wantWanting {
			t.Errorf("%s: %v, %v", what, got, wanting)
		}
	}
	check("nothing is known", 1, nil, false)
	h.Hint(1)
	check("hinted", 1, nil, true)
	for range 2 {
		if h.Store(1, job) != nil {
			t.Error("the same type was refused")
		}
	}
	check("stored", 1, job, false)
	if h.Store(1, task) != nil {
		t.Error("another type was refused before members were read")
	}
	check("mixed", 1, nil, false)
	if h.Store(1, job) != nil {
		t.Error("a type was refused of an object that has several")
	}

	h.Store(2, job)
	ref, _ := h.Ref(2)
	if object, blank := h.Use(ref); object != 2 || blank {
		t.Errorf("used: object %d, %v", object, blank)
	}
	for _, other := range []*compile.TypeRef{task, nil} {
		if got := h.Store(2, other); got == nil || !got.Same(*job) {
			t.Errorf("%v was stored where members of %v were read", other, job)
		}
	}
	check("used", 2, job, false)
	if h.Store(2, job) != nil {
		t.Error("its own type was refused")
	}
	namesake := &compile.TypeRef{Name: job.Name, Module: "/lib/other.so"}
	if got := h.Store(2, namesake); got == nil {
		t.Error("a type of another file with the same name was stored where members were read")
	}
	if h.Store(3, nil); h.Store(3, job) != nil {
		t.Error("a type was refused of an object of numbers")
	}
	check("numbers first", 3, nil, false)
}

// TestBlankTypes: without a place each object may hold a type, until it is known that none was stored.
func TestBlankTypes(t *testing.T) {
	var h HeldTypes
	blank := h.Blank(1)
	if object, is := h.Use(blank); blank == nil || object != 1 || !is {
		t.Errorf("%v of object %d, %v", blank, object, is)
	}
	if _, is := h.Use(&compile.TypeRef{}); is {
		t.Error("another type is a blank")
	}
	if _, is := h.Use(nil); is {
		t.Error("no type is a blank")
	}
	h.Hint(2)
	h.Complete()
	if h.Blank(1) != nil || h.IsHinted(1) {
		t.Error("an object of numbers may hold a type")
	}
	if h.Blank(2) == nil || !h.IsHinted(2) {
		t.Error("an object of which there is a hint may not hold a type")
	}
}

// TestHeldTypesAtOnce: programs are compiled on several goroutines. The race detector watches.
func TestHeldTypesAtOnce(t *testing.T) {
	var h HeldTypes
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for object := range 100 {
				h.Hint(object)
				h.Store(object, &compile.TypeRef{Name: "struct job*"})
				ref, _ := h.Ref(object)
				h.Use(ref)
				h.Use(h.Blank(object + i))
			}
		})
	}
	all.Wait()
}
