package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gotap"
	"gotap/compile"
	"gotap/compile/diag"
	"gotap/compile/js"
	"gotap/runtime/arena"
	"gotap/script"
	"gotap/script/definition"
	"gotap/script/output"
	"gotap/stdlib"
)

// scriptFlags are the flags of commands that load a script without a target.
type scriptFlags struct {
	eval   string
	args   []string
	unsafe bool
	definitionFlags
	lookOnly bool // changes of the target are reported instead of refused, because no target runs
}

func (f *scriptFlags) register(c *cobra.Command) {
	c.Flags().StringVarP(&f.eval, "eval", "e", "", "the script itself, instead of a file")
	c.Flags().StringArrayVar(&f.args, "arg", nil, "name=value, read by option() in the script (repeatable)")
	c.Flags().BoolVar(&f.unsafe, "unsafe", false, "allow programs to change the target")
	f.definitionFlags.register(c)
}

// A checked is a program that was compiled and verified without a target.
type checked struct {
	title   string // "libc:malloc enter"
	program *compile.Program
}

// A checkedText is a script or a definition file with its programs.
type checkedText struct {
	main     *diag.Source // the text itself
	programs []checked
	arena    *arena.Arena
	inputs   []string // the files it was made of
	close    func()
}

// load compiles a script or a definition file that is not run, and prints warnings.
func (f *scriptFlags) load(w *World, c *cobra.Command, args []string) (*checkedText, error) {
	text, err := readScript(w, args, f.eval, c.Flags().Changed("eval"))
	if err != nil {
		return nil, err
	}
	var t *checkedText
	var list diag.List
	switch {
	case isListing(text):
		t, list, err = loadListing(text)
	case isDefinition(text):
		t, list, err = f.loadDefinition(text)
	default:
		t, list, err = f.loadScript(w, text)
	}
	if err != nil {
		return nil, withStatus(statusUsage, err)
	}
	warnings(w, list)
	t.main = diag.NewSource(text.Name, text.Text)
	return t, nil
}

func (f *scriptFlags) loadScript(w *World, text gotap.Script) (*checkedText, diag.List, error) {
	p := plan{runOptions: runOptions{args: f.args}}
	if err := p.checkArgs(); err != nil {
		return nil, nil, err
	}
	if err := f.refuse(text); err != nil {
		return nil, nil, err
	}
	o := script.Options{
		Name: text.Name, Text: text.Text, Dir: text.Dir, Std: stdlib.Files(), Args: p.args, Unsafe: f.unsafe, Check: true,
		Output: output.NewText(io.Discard, w.Stderr), Stuck: w.stuck(statusUsage),
	}
	s, all, list, err := checkScript(o)
	if err != nil && f.lookOnly && !o.Unsafe && onlyUnsafe(err) {
		o.Unsafe = true
		var again error
		if s, all, list, again = checkScript(o); again != nil {
			return nil, nil, err
		}
		fmt.Fprintf(w.errs(), "gotap: %s changes the target: to run, it needs --unsafe\n", text.Name)
	} else if err != nil {
		return nil, nil, err
	}
	t := &checkedText{arena: s.Arena(), inputs: s.Inputs(), close: s.Close}
	for _, p := range all {
		t.programs = append(t.programs, checked{p.Probe.Name + " " + p.Handler.String(), p.Program})
	}
	return t, list, nil
}

// onlyUnsafe reports whether a script was refused only because it changes the target.
func onlyUnsafe(err error) bool {
	var list diag.List
	return errors.As(err, &list) && !slices.ContainsFunc(list, func(d diag.Diagnostic) bool {
		return d.Severity == diag.Error && !strings.HasSuffix(d.Text, js.NeedsUnsafe)
	})
}

// checkScript loads a script and compiles all its programs.
func checkScript(o script.Options) (*script.Script, []script.Checked, diag.List, error) {
	s, list := script.Load(o)
	if err := list.Err(); err != nil {
		return nil, nil, nil, err
	}
	all, more := s.Check()
	if err := more.Err(); err != nil {
		s.Close()
		return nil, nil, nil, err
	}
	return s, all, list, nil
}

func (f *scriptFlags) loadDefinition(text gotap.Script) (*checkedText, diag.List, error) {
	o, err := f.definitionFlags.options(f.unsafe)
	if err != nil {
		return nil, nil, err
	}
	arena, err := arena.New(arena.Options{Size: checkArena})
	if err != nil {
		return nil, nil, err
	}
	d, list := definition.Load(text.Name, text.Text, o, definition.Variables{Arena: arena, Shared: &definition.Shared{}}, definition.First)
	if err := list.Err(); err != nil {
		arena.Close()
		return nil, nil, err
	}
	t := &checkedText{arena: arena, close: func() { arena.Close() }}
	for _, p := range d.Probes {
		t.programs = append(t.programs, checked{fmt.Sprintf("%s (%d,%d)", p.Name, p.Major, p.Minor), p.Program})
	}
	return t, list, nil
}

// checkArena is the address space for the variables of a definition file that is not run.
const checkArena = 16 << 20

// run returns the function of a command that only looks at its checked script.
func (f *scriptFlags) run(w *World, look func(t *checkedText) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		t, err := f.load(w, c, args)
		if err != nil {
			return err
		}
		defer t.close()
		return look(t)
	}
}

func newCheck(w *World) *cobra.Command {
	var flags scriptFlags
	c := &cobra.Command{
		Use:   "check SCRIPT",
		Short: "Compile and verify a script; print the bounds of every program",
		RunE: flags.run(w, func(t *checkedText) error {
			printChecked(w, t)
			return nil
		}),
	}
	flags.lookOnly = true
	flags.register(c)
	return c
}

func printChecked(w *World, t *checkedText) {
	for _, p := range t.programs {
		fmt.Fprintf(w.out(), "%s: %s\n", p.title, p.program.Bound)
	}
	if len(t.programs) == 0 {
		fmt.Fprintln(w.out(), "no probes")
	}
}

func newDis(w *World) *cobra.Command {
	var flags scriptFlags
	raw := false
	c := &cobra.Command{
		Use:   "dis SCRIPT",
		Short: "Print the bytecode of a script's programs, with the source lines",
		Long: `dis prints the programs of a script or a definition file as they will run. The output, saved as
NAME.rpn, is valid input: it assembles to the same bytes, which --bytes prints.`,
		RunE: flags.run(w, func(t *checkedText) error {
			if raw {
				return printBytes(w, t)
			}
			return printListing(w, t)
		}),
	}
	flags.register(c)
	c.Flags().BoolVar(&raw, "bytes", false, "the bytes of each program, in hexadecimal digits")
	return c
}

func printListing(w *World, t *checkedText) error {
	var options compile.ListOptions
	if t.arena != nil {
		options.Object = func(id int) string {
			o, _ := t.arena.Lookup(id)
			return o.Name
		}
	}
	for i, p := range t.programs {
		if i > 0 {
			fmt.Fprintln(w.out())
		}
		if err := compile.List(w.out(), p.program, options); err != nil {
			return withStatus(statusFailure, fmt.Errorf("cannot write the listing: %w", err))
		}
	}
	return nil
}
