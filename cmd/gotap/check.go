package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"gotap"
	"gotap/cmd/gotap/status"
	"gotap/compile"
	"gotap/script/output"
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

// load compiles a script, a definition file or a listing that is not run, and prints warnings.
func (f *scriptFlags) load(w *World, c *cobra.Command, args []string) (*gotap.Checked, error) {
	text, err := readScript(w, args, f.eval, c.Flags().Changed("eval"))
	if err != nil {
		return nil, err
	}
	o, err := f.options(w, text)
	if err != nil {
		return nil, status.With(status.Usage, err)
	}
	t, err := gotap.Check(text, o)
	if err != nil && f.lookOnly && !o.Unsafe && !isDefinition(text) && gotap.NeedsUnsafe(err) {
		o.Unsafe = true
		var again error
		if t, again = gotap.Check(text, o); again != nil {
			return nil, err
		}
		fmt.Fprintf(w.errs(), "gotap: %s changes the target: to run, it needs --unsafe\n", text.Name)
	} else if err != nil {
		return nil, err
	}
	warnings(w, t.Warnings)
	return t, nil
}

// options understands the flags that go with the kind of the text.
func (f *scriptFlags) options(w *World, text gotap.Script) (o gotap.CheckOptions, err error) {
	o = gotap.CheckOptions{Unsafe: f.unsafe, Output: output.NewText(io.Discard, w.Stderr), Stuck: w.stuck(status.Usage)}
	switch {
	case isListing(text):
		return o, nil
	case isDefinition(text):
		o.Definition, err = f.definitionFlags.options(f.unsafe)
		return o, err
	}
	p := plan{runOptions: runOptions{args: f.args}}
	if err := p.checkArgs(); err != nil {
		return o, err
	}
	o.Args = p.args
	return o, f.refuse(text)
}

// run returns the function of a command that only looks at its checked script.
func (f *scriptFlags) run(w *World, look func(t *gotap.Checked) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		t, err := f.load(w, c, args)
		if err != nil {
			return err
		}
		defer t.Close()
		return look(t)
	}
}

func newCheck(w *World) *cobra.Command {
	var flags scriptFlags
	c := &cobra.Command{
		Use:   "check SCRIPT",
		Short: "Compile and verify a script; print the bounds of every program",
		RunE: flags.run(w, func(t *gotap.Checked) error {
			printChecked(w, t)
			return nil
		}),
	}
	flags.lookOnly = true
	flags.register(c)
	return c
}

func printChecked(w *World, t *gotap.Checked) {
	for _, p := range t.Programs {
		fmt.Fprintf(w.out(), "%s: %s\n", p.Title, p.Bound)
	}
	if len(t.Programs) == 0 {
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
		RunE: flags.run(w, func(t *gotap.Checked) error {
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

func printListing(w *World, t *gotap.Checked) error {
	var options compile.ListOptions
	if t.Arena != nil {
		options.Object = func(id int) string {
			o, _ := t.Arena.Lookup(id)
			return o.Name
		}
	}
	for i, p := range t.Programs {
		if i > 0 {
			fmt.Fprintln(w.out())
		}
		if err := compile.List(w.out(), p.Program, options); err != nil {
			return status.With(status.Failure, fmt.Errorf("cannot write the listing: %w", err))
		}
	}
	return nil
}
