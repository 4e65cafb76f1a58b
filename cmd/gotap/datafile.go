package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
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

// checkOutput takes "-" for standard output, as it is standard input for a script, and puts the time into the name of a file.
func (p *plan) checkOutput() error {
	if p.output == "-" {
		p.output, p.terminal = "", true
	}
	p.output = stamped(p.output, time.Now())
	return nil
}

// stamps are the conversions of strftime that names of files have use for, as layouts of package time.
var stamps = map[byte]string{'Y': "2006", 'y': "06", 'm': "01", 'd': "02", 'H': "15", 'M': "04", 'S': "05", 'j': "002", 'F': "2006-01-02", 'T': "15:04:05", 'Z': "MST"}

// stamped is a name with the time in it: tr-%F-%H%M%S; %s is seconds since 1970, and %% a percent sign. Other percent signs stay
// what they are.
func stamped(name string, now time.Time) string {
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		if name[i] != '%' || i+1 == len(name) {
			b.WriteByte(name[i])
			continue
		}
		switch layout, known := stamps[name[i+1]]; {
		case known:
			b.WriteString(now.Format(layout))
		case name[i+1] == 's':
			b.WriteString(strconv.FormatInt(now.Unix(), 10))
		case name[i+1] == '%':
			b.WriteByte('%')
		default:
			b.WriteByte('%')
			continue
		}
		i++
	}
	return b.String()
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
