package definition

import (
	"sync"

	"gotap/runtime/arena"
	"gotap/runtime/object"
)

// Variables declare the variables of definition files. The global ones are an array that all files of a session share.
// The local ones of a new version of a file keep their values when there are as many as before.
type Variables struct {
	Arena  *arena.Arena
	Shared *Shared
	Before *File // the running version of the file, or nil
}

// Shared are the global variables of a session. The zero value is ready.
type Shared struct {
	mu   sync.Mutex
	id   int
	made bool
}

// maxGlobals is how many global variables a file may ask for.
const maxGlobals = 256

// Object returns the arena's number of the array, once a file has asked for it.
func (s *Shared) Object() (id int, made bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.id, s.made
}

// Declare implements dpdf.Declarer.
func (v Variables) Declare(o object.Object) (id int, err error) {
	if v.Before != nil {
		for _, b := range v.Before.Modules() {
			if b.Array == o.Name && b.Vars == o.Size {
				return b.Locals, nil
			}
		}
	}
	return v.Arena.Declare(o)
}

// globals implements dpdf.Options.Globals.
func (v Variables) globals(int) (id int, err error) {
	v.Shared.mu.Lock()
	defer v.Shared.mu.Unlock()
	if !v.Shared.made {
		v.Shared.id, err = v.Arena.Declare(object.Object{Name: "gv", Kind: object.KindArray, Size: maxGlobals})
		v.Shared.made = err == nil
	}
	return v.Shared.id, err
}
