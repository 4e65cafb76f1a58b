package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gotap/cmd/gotap/status"
	"gotap/cmd/gotap/terminal"
	"gotap/samples"
	"gotap/script"
	"gotap/script/output"
	"gotap/stdlib"
)

// addScriptHelp makes `gotap run SCRIPT --help` say what a sample is for, and list the
// arguments that the script declares with option().
func addScriptHelp(w *World, c *cobra.Command, o *runOptions) {
	c.SetHelpFunc(func(c *cobra.Command, args []string) {
		defer w.help(c)                        // what the script takes comes first
		_, after, _ := c.Root().Traverse(args) // the arguments after the command's name
		args = slices.DeleteFunc(slices.Clone(after), func(a string) bool { return a == "--help" || a == "-h" })
		if c.Flags().Parse(args) != nil {
			return
		}
		own, _ := splitCommand(c, c.Flags().Args())
		name := "-e"
		if len(own) > 0 {
			name = own[0]
		}
		printPurpose(w.Stdout, name)
		printOptions(w.Stdout, name, scriptOptions(w, own, o.text, c.Flags().Changed("eval")))
	})
}

// printPurpose says what a sample is for.
func printPurpose(w *os.File, name string) {
	if s, ok := samples.Find(name); ok && !isFile(name) {
		fmt.Fprintln(w, terminal.Wrap(s.Name+": "+s.Purpose+"\n", terminal.Columns(w)))
	}
}

// printOptions lists a script's arguments.
func printOptions(w *os.File, name string, options []script.Option) {
	if len(options) == 0 {
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Arguments of %s:\n", name)
	for _, o := range options {
		what := o.Help
		if o.Default != "" {
			what += fmt.Sprintf(" (default %s)", o.Default)
		}
		fmt.Fprintf(&b, "      --arg %-18s %s\n", o.Name+"="+o.Type, what)
	}
	fmt.Fprintln(w, terminal.Wrap(b.String(), terminal.Columns(w)))
}

// scriptOptions returns the options that a script declares, none when it does not load.
func scriptOptions(w *World, args []string, eval string, hasEval bool) []script.Option {
	if len(args) > 1 {
		args = args[:1]
	}
	if len(args) == 1 && args[0] == "-" {
		return nil // the terminal's own input
	}
	text, err := readScript(w, args, eval, hasEval)
	if err != nil || isDefinition(text) {
		return nil
	}
	s, list := script.Load(script.Options{
		Name: text.Name, Text: text.Text, Dir: text.Dir, Std: stdlib.Files(), Check: true, Unsafe: true, Output: output.NewText(io.Discard, io.Discard),
		Stuck: w.stuck(status.Usage),
	})
	if list.Err() != nil {
		return nil
	}
	defer s.Close()
	return s.Options()
}
