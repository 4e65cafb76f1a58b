package definition

import (
	"slices"
	"sync"
)

// A Set holds the definition files of a session. It is safe for concurrent use; the zero value is ready.
type Set struct {
	Shared Shared

	mu     sync.Mutex
	list   []*File
	probes map[uint32]*Probe // all that were ever added: records of removed probes may still arrive
	next   uint32            // number of the next probe, without First
}

// Next returns the number for the first probe of a file to be loaded. No number is used twice.
func (s *Set) Next() uint32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return First + s.next
}

// Add adds a file, in the place of another if that is not nil.
func (s *Set) Add(f, before *File) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.probes == nil {
		s.probes = map[uint32]*Probe{}
	}
	for _, p := range f.Probes {
		s.probes[p.ID] = p
		s.next = max(s.next, p.ID-First+1)
	}
	if i := slices.Index(s.list, before); i >= 0 {
		s.list[i] = f
		return
	}
	s.list = append(s.list, f)
}

// Drop removes a file. Records of its probes are still found.
func (s *Set) Drop(f *File) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = slices.DeleteFunc(s.list, func(o *File) bool { return o == f })
}

// Files lists the files in the order in which they were added.
func (s *Set) Files() []*File {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.list)
}

// Probe finds the probe with a number; nil when no file had it.
func (s *Set) Probe(id uint32) *Probe {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.probes[id]
}
