package entry

import (
	"fmt"
	"runtime/debug"
	"sync"
)

// debugSections are the sections that are read, without ".debug_".
var debugSections = [...]string{"info", "types", "abbrev", "str", "line", "line_str", "ranges", "rnglists", "loc", "loclists",
	"addr", "str_offsets"}

// readSection is a section that has been read, or why that is not possible.
type readSection struct {
	data []byte
	err  error
}

// ownSections are the debug sections of the module's own files, which the first use reads. It is safe for concurrent
// use.
type ownSections struct {
	once sync.Once
	all  [len(debugSections)]readSection // in the order of debugSections
}

// read returns the sections. Packages of distributions compress them, and decompressing those of a C library takes
// longer than anything else that gotap does with it; so each is decompressed by a goroutine of its own.
func (s *ownSections) read(rd *Reader) []readSection {
	s.once.Do(func() {
		var wg sync.WaitGroup
		for i := range s.all {
			wg.Go(func() { s.all[i] = readOwn(rd, ".debug_"+debugSections[i]) })
		}
		wg.Wait()
	})
	return s.all[:]
}

// readOwn returns a section from the first file that has it. Files are mapped, and reading one that has been truncated
// faults, which becomes an error here.
func readOwn(rd *Reader, name string) (s readSection) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			s = readSection{err: fmt.Errorf("cannot read the debug information: %v", p)}
		}
	}()
	s.data, _, s.err = rd.Section(name)
	return s
}
