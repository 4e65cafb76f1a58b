package symbols

import (
	"debug/elf"
	"maps"
	"slices"
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
	open  []*mapped.Image         // kept as long as what was read from them
	told  map[*debuginfo.Info]int // how many of its missing files FreshMissing has returned
}

// elfFile gives a module's file the form that packages unwind and debuginfo read.
type elfFile struct{ *module.File }

// Machine is the processor that the file is for.
func (f elfFile) Machine() elf.Machine { return f.File.Machine }

// Name is the path of the file.
func (f elfFile) Name() string { return f.Path }

// Sections returns the contents of the section of a name, of which such a file has one.
func (f elfFile) Sections(name string) ([][]byte, error) {
	data, _, err := f.Section(name)
	return [][]byte{data}, err
}

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
	open := func(path string) (debuginfo.File, error) { return l.other(f, path) }
	in, _ := debuginfo.OpenWith(open, sources...) // what is broken in it is left out
	return in
}

// other maps another file that the debug information of f refers to, from the root directory of the process that f was
// found in, or else from that of the host.
func (l *Files) other(f *module.File, path string) (debuginfo.File, error) {
	img, err := mapped.OpenAs(path, f.Root+path)
	if err != nil && f.Root != "" {
		img, err = mapped.Open(path)
	}
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open = append(l.open, img)
	return img, nil
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

// FreshMissing returns a *debuginfo.MissingError for each file that is missing and that no call has returned before.
func (l *Files) FreshMissing() (fresh []error) {
	l.mu.Lock()
	infos := slices.Collect(maps.Values(l.infos))
	l.mu.Unlock()
	for _, in := range infos {
		if in == nil {
			continue
		}
		all := in.Missing() // waits for questions, which may wait for l.mu
		l.mu.Lock()
		if l.told == nil {
			l.told = map[*debuginfo.Info]int{}
		}
		fresh = append(fresh, all[min(l.told[in], len(all)):]...)
		l.told[in] = len(all)
		l.mu.Unlock()
	}
	return fresh
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
