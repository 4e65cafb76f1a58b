package place

import (
	"fmt"
	"path/filepath"
	"sync"

	"gotap/engine/image/module"
)

// Overlooked collects patterns without a module that match functions of libraries and none of the main program, where
// they may mean functions that were inlined. Those are searched for only when somebody asks, because that reads much
// debug information. Safe for concurrent use; the zero value is ready.
type Overlooked struct {
	mu    sync.Mutex // guards what follows; not held while debug information is read
	noted map[overlookedKey]bool
	fresh []OverlookedError

	searching sync.Mutex // held while debug information is read; taken before mu
}

type overlookedKey struct {
	spec Spec
	main *module.File
}

// Note remembers that a pattern matches nothing in the main program, as missing says; nil does nothing.
func (o *Overlooked) Note(s Spec, main *module.File, missing *NotFoundError) {
	if o == nil || s.Module != "" || missing == nil || len(missing.Matching) == 0 {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	key := overlookedKey{s, main}
	if o.noted[key] {
		return
	}
	if o.noted == nil {
		o.noted = map[overlookedKey]bool{}
	}
	o.noted[key] = true
	o.fresh = append(o.fresh, OverlookedError{Spec: s, Main: main.Path, matching: missing.Matching})
}

// Fresh returns an *OverlookedError for each pattern that means inlined functions of the main program and that no call
// has returned before. A second call waits until the first has searched.
func (o *Overlooked) Fresh() (found []error) {
	o.searching.Lock()
	defer o.searching.Unlock()
	o.mu.Lock()
	fresh := o.fresh
	o.fresh = nil
	o.mu.Unlock()
	for _, e := range fresh {
		if e.Inlined = namesOf(e.matching); len(e.Inlined) > 0 {
			found = append(found, &e)
		}
	}
	return found
}

// OverlookedError reports that a pattern matches functions of libraries, while functions of the main program that it
// would mean, too, are inlined.
type OverlookedError struct {
	Spec    Spec
	Main    string   // the program's path
	Inlined []string // functions that the pattern matches

	matching []Names
}

// Error names the functions.
func (e *OverlookedError) Error() string {
	return fmt.Sprintf("%q stands for functions of libraries alone: %s in %s", e.Spec, areInlined(e.Inlined), filepath.Base(e.Main))
}

// Hint returns what to write instead.
func (e *OverlookedError) Hint() string { return patternsFindNone(len(e.Inlined)) }
