package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"gotap/script"
	"gotap/script/output"
	"gotap/stdlib"
)

// addScriptHelp makes `gotap run SCRIPT --help` list the arguments that the script declares with option().
func addScriptHelp(w *World, c *cobra.Command, o *runOptions) {
	help := c.HelpFunc()
	c.SetHelpFunc(func(c *cobra.Command, args []string) {
		help(c, args)
		_, after, _ := c.Root().Traverse(args) // what is behind the command's name
		args = slices.DeleteFunc(slices.Clone(after), func(a string) bool { return a == "--help" || a == "-h" })
		if c.Flags().Parse(args) != nil {
			return
		}
		own, _ := splitCommand(c, c.Flags().Args())
		text, err := readScript(w, own, o.text, c.Flags().Changed("eval"))
		if err != nil || isDefinition(text) {
			return
		}
		s, list := script.Load(script.Options{
			Name: text.name, Text: text.text, Dir: text.dir, Std: stdlib.Files(), Check: true, Output: output.NewText(io.Discard, io.Discard),
		})
		if list.Err() != nil {
			return
		}
		defer s.Close()
		printOptions(w.Stdout, text.name, s.Options())
	})
}

// printOptions lists a script's arguments.
func printOptions(w io.Writer, name string, options []script.Option) {
	if len(options) == 0 {
		return
	}
	fmt.Fprintf(w, "\nArguments of %s:\n", name)
	for _, o := range options {
		what := o.Help
		if o.Default != "" {
			what += fmt.Sprintf(" (default %s)", o.Default)
		}
		fmt.Fprintf(w, "      --arg %-18s %s\n", o.Name+"="+o.Type, what)
	}
}
