// Package spare keeps files open, so that some can be opened when this program may open no more (RLIMIT_NOFILE).
//
// A Files belongs to one goroutine at a time. The package starts none.
package spare

import "os"

// Files is a set of open files that can be closed when others are needed. The zero value is empty.
type Files []*os.File

// Fill opens files until there are n, as far as possible.
func (f *Files) Fill(n int) {
	for len(*f) < n {
		file, err := os.Open(os.DevNull)
		if err != nil {
			return
		}
		*f = append(*f, file)
	}
}

// Free closes all files.
func (f *Files) Free() {
	for _, file := range *f {
		file.Close()
	}
	*f = nil
}
