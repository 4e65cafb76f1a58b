package ppdf

import (
	"errors"
	"fmt"
	"slices"

	"gotap/compile"
	"gotap/compile/dpdf"
)

// Magic is how every file begins.
const Magic = "gPPD"

// Version is that of the files that Encode writes, and the highest that Decode reads.
const Version = 1

// File is the contents of a file: a definition or a script.
type File struct {
	Name       string // what it was built from, for people
	Definition *dpdf.File
	Script     string // text; only when Definition is nil
}

// Numbers of variables within a file.
const (
	localArray = iota
	globalArray
	arrays
)

// Build makes a file of a definition, which is left as it is. Arena numbers mean nothing in
// another session, so programs are given the numbers of variables within the file.
func Build(name string, d *dpdf.File) (*File, error) {
	c := *d
	if len(d.Others) > 0 {
		return nil, errors.New("a prebuilt file has one module; write a definition file for each")
	}
	c.Locals, c.GlobalVars = -1, -1
	c.Probes = slices.Clone(d.Probes)
	for i := range c.Probes {
		p, err := renumber(c.Probes[i].Program, func(id int) (int, bool) {
			switch id {
			case d.Locals:
				return localArray, true
			case d.GlobalVars:
				return globalArray, true
			}
			return 0, false
		})
		if err != nil {
			return nil, fmt.Errorf("cannot build %s: %w", name, err)
		}
		c.Probes[i].Program = p
	}
	return &File{Name: name, Definition: &c}, nil
}

// renumber is a program with other numbers for its objects.
// Its bound is taken away: it must be verified again, wherever it has been.
func renumber(p *compile.Program, number func(id int) (int, bool)) (*compile.Program, error) {
	c := *p
	c.Bound = compile.Bound{}
	c.Objects = make([]int, len(p.Objects))
	for i, id := range p.Objects {
		n, ok := number(id)
		if !ok {
			return nil, fmt.Errorf("program %q uses object %d, which is not a variable of the file", p.Name, id)
		}
		c.Objects[i] = n
	}
	return &c, nil
}

// ErrUnsafe says that a file changes the target and is not allowed to.
var ErrUnsafe = errors.New("it changes the target")

// Bind makes a definition of a file that holds one: its variables are declared, its programs
// verified. Of the options, only Arena, Globals and Unsafe count.
func (f *File) Bind(o dpdf.Options) (*dpdf.File, error) {
	d := *f.Definition
	if err := d.Declare(o); err != nil {
		return nil, fmt.Errorf("cannot load %s: %w", f.Name, err)
	}
	ids := [arrays]int{localArray: d.Locals, globalArray: d.GlobalVars}
	d.Probes = slices.Clone(d.Probes)
	for i := range d.Probes {
		p, err := renumber(d.Probes[i].Program, func(n int) (int, bool) {
			if n >= arrays || ids[n] < 0 {
				return 0, false
			}
			return ids[n], true
		})
		if err == nil {
			err = check(p, o.Unsafe)
		}
		if err != nil {
			return nil, fmt.Errorf("cannot load %s, probe %s: %w", f.Name, d.Probes[i].Place, err)
		}
		d.Probes[i].Program = p
	}
	return &d, nil
}

// check verifies a program from a file. Permission comes first: a file that wants to change the
// target is reported as that, before anything else that is wrong with it.
func check(p *compile.Program, unsafe bool) error {
	if p.Unsafe && !unsafe {
		return ErrUnsafe
	}
	return compile.Verify(p).Err()
}
