package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"gotap/compile"
	"gotap/script"
	"gotap/script/output"
	"gotap/stdlib"
)

// scriptFlags are the flags of commands that load a script without a target.
type scriptFlags struct {
	eval   string
	args   []string
	unsafe bool
}

func (f *scriptFlags) register(c *cobra.Command) {
	c.Flags().StringVarP(&f.eval, "eval", "e", "", "the script itself, instead of a file")
	c.Flags().StringArrayVar(&f.args, "arg", nil, "name=value, read by option() in the script (repeatable)")
	c.Flags().BoolVar(&f.unsafe, "unsafe", false, "allow programs to change the target")
}

// load loads a script for looking at it only.
func (f *scriptFlags) load(w *World, c *cobra.Command, args []string) (*script.Script, error) {
	text, err := readScript(w, args, f.eval, c.Flags().Changed("eval"))
	if err != nil {
		return nil, err
	}
	p := plan{runOptions: runOptions{args: f.args}}
	if err := p.checkArgs(); err != nil {
		return nil, withStatus(statusUsage, err)
	}
	s, list := script.Load(script.Options{
		Name: text.name, Text: text.text, Dir: text.dir, Std: stdlib.Files(), Args: p.args, Unsafe: f.unsafe, Check: true,
		Output: output.NewText(io.Discard, w.Stderr),
	})
	if err := list.Err(); err != nil {
		return nil, withStatus(statusUsage, err)
	}
	for _, d := range list {
		fmt.Fprint(w.Stderr, d.String())
	}
	return s, nil
}

func newCheck(w *World) *cobra.Command {
	var flags scriptFlags
	c := &cobra.Command{
		Use:   "check SCRIPT",
		Short: "Compile and verify a script; print the bounds of every program",
		RunE: func(c *cobra.Command, args []string) error {
			s, err := flags.load(w, c, args)
			if err != nil {
				return err
			}
			defer s.Close()
			return printChecked(w, s)
		},
	}
	flags.register(c)
	return c
}

func printChecked(w *World, s *script.Script) error {
	all, list := s.Check()
	if err := list.Err(); err != nil {
		return withStatus(statusUsage, err)
	}
	for _, p := range all {
		fmt.Fprintf(w.Stdout, "%s %s: %s\n", p.Probe.Name, p.Handler, p.Program.Bound)
	}
	if len(all) == 0 {
		fmt.Fprintln(w.Stdout, "no probes")
	}
	return nil
}

func newDis(w *World) *cobra.Command {
	var flags scriptFlags
	c := &cobra.Command{
		Use:   "dis SCRIPT",
		Short: "Print the bytecode of a script's programs, with the source lines",
		RunE: func(c *cobra.Command, args []string) error {
			s, err := flags.load(w, c, args)
			if err != nil {
				return err
			}
			defer s.Close()
			return printListing(w, s)
		},
	}
	flags.register(c)
	return c
}

func printListing(w *World, s *script.Script) error {
	all, list := s.Check()
	if err := list.Err(); err != nil {
		return withStatus(statusUsage, err)
	}
	options := compile.ListOptions{Object: func(id int) string {
		o, _ := s.Arena().Lookup(id)
		return o.Name
	}}
	for i, p := range all {
		if i > 0 {
			fmt.Fprintln(w.Stdout)
		}
		if err := compile.List(w.Stdout, p.Program, options); err != nil {
			return withStatus(statusFailure, fmt.Errorf("cannot write the listing: %w", err))
		}
	}
	return nil
}
