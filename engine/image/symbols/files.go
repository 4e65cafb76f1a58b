package symbols

import (
	"debug/elf"
	"sync"

	"gotap/engine/image/debuginfo"
	"gotap/engine/image/mapped"
	"gotap/engine/image/module"
	"gotap/engine/image/unwind"
	"gotap/engine/place"
)

// Files caches what is read of the files of modules. The zero value is empty.
type Files struct {
	mu    sync.Mutex // guards all below
	infos map[*module.File]*debuginfo.Info
	cfi   map[*module.File]*unwind.Table
	open  []*mapped.Image // kept as long as what was read from them
}

// elfFile gives a module's file the form that packages unwind and debuginfo read.
type elfFile struct{ *module.File }

// Machine is the processor that the file is for.
func (f elfFile) Machine() elf.Machine { return f.File.Machine }

// Info is the debug information of a file, its separate debug file included; ok is false when it has none.
func (l *Files) Info(f *module.File) (in *debuginfo.Info, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	in, known := l.infos[f]
	if !known {
		in = l.read(f)
		if l.infos == nil {
			l.infos = map[*module.File]*debuginfo.Info{}
		}
		l.infos[f] = in
	}
	return in, in != nil && in.Has()
}

// read reads the debug information of a file.
func (l *Files) read(f *module.File) *debuginfo.Info {
	sources := []debuginfo.File{l.source(f)}
	if d := f.Debug(); d != nil {
		sources = append(sources, l.source(d))
	}
	in, _ := debuginfo.Open(sources...) // what is broken in it is left out
	return in
}

// source maps a file for reading, or reads it as the module does where it cannot be opened again by its name.
func (l *Files) source(f *module.File) debuginfo.File {
	img, err := mapped.OpenAs(f.Path, f.OpenPath())
	if err != nil {
		return elfFile{f}
	}
	l.open = append(l.open, img)
	return img
}

// Table is the call-frame information of a file; nil when it has none.
func (l *Files) Table(f *module.File) *unwind.Table {
	l.mu.Lock()
	defer l.mu.Unlock()
	t, ok := l.cfi[f]
	if !ok {
		t, _ = unwind.New(elfFile{f})
		if l.cfi == nil {
			l.cfi = map[*module.File]*unwind.Table{}
		}
		l.cfi[f] = t
	}
	return t
}

// Lines is the line table of a file, for package place; nil when it has none.
func (l *Files) Lines(f *module.File) (place.Lines, error) {
	if in, ok := l.Info(f); ok {
		return in, nil
	}
	return nil, nil
}
