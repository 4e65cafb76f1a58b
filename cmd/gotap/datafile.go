package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
)

// A dataFile is where a run's data goes: the file of -o, or standard output. Two things are its own: the file keeps what it held
// until there is something else to hold, so that a script with a slip in it costs nobody the data of the run before; and
// a reader that went away, as head does, is told of at once.
type dataFile struct {
	file  *os.File
	fresh bool   // -o made or found the file: it is emptied before it is written
	gone  func() // called once, when nobody reads any more

	rotation *rotation // nil: all goes into the one file

	empty, told sync.Once
}

// checkOutput takes "-" for standard output, as it is standard input for a script.
func (p *plan) checkOutput() error {
	if p.output == "-" {
		p.output, p.terminal = "", true
	}
	return nil
}

// openOutput opens the file of -o.
func (p *plan) openOutput() error {
	p.sinkFile = &dataFile{file: p.data}
	if p.output == "" {
		return nil
	}
	f, err := os.OpenFile(p.output, os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return fmt.Errorf("cannot write the output: %w", err)
	}
	if err := p.keepScript(f); err != nil {
		f.Close()
		return err
	}
	p.data, p.sinkFile = f, &dataFile{file: f, fresh: true, rotation: p.rotation}
	if p.rotation != nil {
		// A name that means the same wherever a session in the background goes on.
		p.rotation.path, err = filepath.Abs(p.output)
	}
	return err
}

// keepScript refuses to write data over the script.
func (p *plan) keepScript(f *os.File) error {
	script, err := os.Stat(p.script)
	if err != nil {
		return nil // it is no file
	}
	files := []string{f.Name()}
	for n := 1; p.rotation != nil && n < p.rotation.files; n++ {
		files = append(files, rotatedName(p.output, n))
	}
	for _, name := range files {
		if data, err := os.Stat(name); err == nil && data.Mode().IsRegular() && os.SameFile(script, data) {
			return fmt.Errorf("-o %s is the script: the data would be written over it", p.output)
		}
	}
	return nil
}

// clear empties the file of -o, once: what is written from now on is all that it holds. What cannot be emptied, as a terminal, is as well.
// Where files follow one another, what the run before left is the first to make room.
func (d *dataFile) clear() {
	if !d.fresh {
		return
	}
	d.empty.Do(func() {
		if info, err := d.file.Stat(); d.rotation != nil && err == nil && info.Size() > 0 && d.next() == nil {
			return
		}
		d.file.Truncate(0)
	})
}

// Write implements io.Writer.
func (d *dataFile) Write(data []byte) (int, error) {
	d.clear()
	if d.rotation != nil {
		return d.writeRotated(data)
	}
	n, err := d.file.Write(data)
	if errors.Is(err, syscall.EPIPE) && d.gone != nil {
		d.told.Do(d.gone)
	}
	return n, err
}
