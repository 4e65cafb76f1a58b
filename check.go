package gotap

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"gotap/compile"
	"gotap/compile/diag"
	"gotap/compile/js"
	"gotap/compile/ppdf"
	"gotap/runtime/arena"
	"gotap/script"
	"gotap/script/definition"
	"gotap/script/load"
	"gotap/script/output"
	"gotap/stdlib"
)

// CheckOptions say how a text is compiled without a target. Their fields are those of Options.
type CheckOptions struct {
	Args       map[string]string
	Definition definition.Options
	Unsafe     bool
	Output     output.Sink     // gets what a script prints while it is loaded; nil: it is dropped
	Stuck      func(err error) // a script cannot be interrupted: the process should end. nil: it is waited for
}

// A Program is one that was compiled and verified without a target.
type Program struct {
	Title string // of a script "libc:malloc enter", of a definition file "name (major,minor)", of a listing its name
	*compile.Program
}

// A Checked is a script, a definition file or a listing with its programs. Close releases it.
type Checked struct {
	Source   *diag.Source // the text itself
	Programs []Program    // in the order of the text
	Arena    *arena.Arena // with the objects that programs name by number; nil: a listing, which has none
	Inputs   []string     // the files that it was made of; of a definition file none
	Warnings Diagnostics

	definition *definition.File // nil: it is something else
	close      func()
}

// Close releases the variables and the JavaScript machine.
func (c *Checked) Close() { c.close() }

// isListing reports whether the text is what `gotap dis` prints.
func (s Script) isListing() bool { return filepath.Ext(s.Name) == ".rpn" }

// Check compiles and verifies all programs of a script, a definition file or a listing (.rpn). Nothing is traced, and
// places need not exist. Errors are those of Open; those about the text match Diagnostics.
func Check(text Script, o CheckOptions) (c *Checked, err error) {
	if o.Output == nil {
		o.Output = output.Discard
	}
	switch {
	case text.isListing():
		c, err = checkListing(text)
	case text.isDefinition():
		c, err = checkDefinition(text, o)
	default:
		c, err = checkScript(text, o)
	}
	if err != nil {
		return nil, failed(BadScript, err)
	}
	c.Source = diag.NewSource(text.Name, text.Text)
	return c, nil
}

// NeedsUnsafe reports whether Check refused a text only because its programs change the target.
func NeedsUnsafe(err error) bool {
	var list diag.List
	return errors.As(err, &list) && !slices.ContainsFunc(list, func(d diag.Diagnostic) bool {
		return d.Severity == diag.Error && !strings.HasSuffix(d.Text, js.NeedsUnsafe)
	})
}

func checkScript(text Script, o CheckOptions) (*Checked, error) {
	s, list := script.Load(script.Options{
		Name: text.Name, Text: text.Text, Dir: text.Dir, Std: stdlib.Files(), Args: o.Args, Unsafe: o.Unsafe, Check: true, Output: o.Output, Stuck: o.Stuck,
	})
	if err := list.Err(); err != nil {
		return nil, err
	}
	all, more := s.Check()
	if err := more.Err(); err != nil {
		s.Close()
		return nil, err
	}
	c := &Checked{Arena: s.Arena(), Inputs: s.Inputs(), Warnings: list, close: s.Close}
	for _, p := range all {
		c.Programs = append(c.Programs, Program{p.Probe.Name + " " + p.Handler.String(), p.Program})
	}
	return c, nil
}

// checkArena is the address space for the variables of a definition file that is not run, in bytes.
const checkArena = 16 << 20

func checkDefinition(text Script, o CheckOptions) (*Checked, error) {
	variables, err := arena.New(arena.Options{Size: checkArena})
	if err != nil {
		return nil, err
	}
	o.Definition.Unsafe = o.Unsafe
	d, list := definition.Load(text.Name, text.Text, o.Definition, definition.Variables{Arena: variables, Shared: &definition.Shared{}},
		definition.First)
	if err := list.Err(); err != nil {
		variables.Close()
		return nil, err
	}
	c := &Checked{Arena: variables, Warnings: list, definition: d, close: func() { variables.Close() }}
	for _, p := range d.Probes {
		c.Programs = append(c.Programs, Program{fmt.Sprintf("%s (%d,%d)", p.Name, p.Major, p.Minor), p.Program})
	}
	return c, nil
}

// checkListing assembles and verifies the programs of a listing.
func checkListing(text Script) (*Checked, error) {
	programs, list := compile.AssembleAll(diag.NewSource(text.Name, text.Text))
	if err := list.Err(); err != nil {
		return nil, err
	}
	c := &Checked{Inputs: []string{text.Name}, close: func() {}}
	for _, p := range programs {
		list = append(list, compile.Verify(p)...)
		c.Programs = append(c.Programs, Program{p.Name, p})
	}
	c.Warnings = list
	return c, list.Err()
}

// Build makes the contents of a prebuilt file (package ppdf), which runs without its source: of a definition file its
// programs, of a script its text. A script that imports files of its own is refused, because a prebuilt file stands
// alone.
func Build(text Script, o CheckOptions) (*ppdf.File, Diagnostics, error) {
	c, err := Check(text, o)
	if err != nil {
		return nil, nil, err
	}
	defer c.Close()
	name := filepath.Base(text.Name)
	if c.definition != nil {
		f, err := ppdf.Build(name, c.definition.File)
		return f, c.Warnings, failed(BadScript, err)
	}
	for _, path := range c.Inputs {
		if path != text.Name && !strings.HasPrefix(path, load.StdPrefix) && !sameFile(path, text.Name) {
			return nil, nil, hinted(BadScript, fmt.Errorf("cannot build %s: it imports %s, and a prebuilt file stands alone", text.Name, path),
				"join them into one script first")
		}
	}
	return &ppdf.File{Name: name, Script: text.Text}, c.Warnings, nil
}

func sameFile(a, b string) bool {
	x, errX := filepath.Abs(a)
	y, errY := filepath.Abs(b)
	return errX == nil && errY == nil && x == y
}
