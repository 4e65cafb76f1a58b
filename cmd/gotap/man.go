package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func newMan(w *World) *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write manual pages for man(1)",
		Long: `man writes a page for every command (gotap.1, gotap-run.1, …) and for every topic of gotap help (gotap-probes.7, …) into DIR/man1 and
DIR/man7, as in: gotap man ~/.local/share/man. They contain the same texts as --help.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return writeManual(w, c.Root(), args[0]) },
	}
}

// writeManual writes all pages.
func writeManual(w *World, root *cobra.Command, dir string) error {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	n := 0
	for _, p := range manualPages(root) {
		path := filepath.Join(dir, "man"+p.section, p.name+"."+p.section)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err == nil {
			err = os.WriteFile(path, []byte(p.text()), 0o644)
		}
		if err != nil {
			return withStatus(statusFailure, fmt.Errorf("cannot write the manual: %w", err))
		}
		n++
	}
	fmt.Fprintf(w.Stdout, "%s in %s\n", plural(n, "page"), dir)
	return nil
}

// A manualPage is a command or a topic on its way to man(1).
type manualPage struct {
	name    string // "gotap-run"
	section string // "1" commands, "7" topics
	command *cobra.Command
	see     []string // other pages, "gotap-run(1)"
}

// manualPages returns the pages of a tree: commands, their verbs, topics.
func manualPages(root *cobra.Command) (all []manualPage) {
	var add func(c *cobra.Command)
	add = func(c *cobra.Command) {
		if c.Hidden || c.Name() == "help" {
			return
		}
		section := "1"
		if !c.Runnable() && !c.HasSubCommands() {
			section = "7"
		}
		all = append(all, manualPage{name: strings.ReplaceAll(c.CommandPath(), " ", "-"), section: section, command: c})
		for _, sub := range c.Commands() {
			add(sub)
		}
	}
	add(root)
	for i := range all {
		for j := range all {
			related := all[j].command == all[i].command.Parent() || all[j].command.Parent() == all[i].command
			if related {
				all[i].see = append(all[i].see, fmt.Sprintf("%s(%s)", all[j].name, all[j].section))
			}
		}
	}
	return all
}

// text returns the page in the language of man(7).
func (p manualPage) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s %s \"\" gotap \"gotap manual\"\n", strings.ToUpper(roff(p.name)), p.section)
	section(&b, "NAME", roff(p.name+" - "+p.command.Short))
	if p.section == "1" {
		section(&b, "SYNOPSIS", "\\fB"+roff(p.command.UseLine())+"\\fP")
	}
	section(&b, "DESCRIPTION", preformatted(p.description()))
	p.flags(&b)
	if p.section == "1" && p.command.Parent() == nil {
		section(&b, "EXIT STATUS", "0; 1 failure at run time; 2 usage or a script that does not compile; 3 cannot launch, attach to or read the target; "+
			"4 no probe matched; stop(n) in a script gives n.")
	}
	section(&b, "SEE ALSO", roff(strings.Join(p.see, ", ")))
	return b.String()
}

func (p manualPage) description() string {
	if p.command.Long != "" {
		return p.command.Long
	}
	return p.command.Short
}

// flags lists the command's flags: first its own, then those of its parents.
func (p manualPage) flags(b *strings.Builder) {
	for _, set := range []struct {
		title string
		flags *pflag.FlagSet
	}{{"OPTIONS", p.command.NonInheritedFlags()}, {"OPTIONS OF THE COMMAND ABOVE", p.command.InheritedFlags()}} {
		if p.section != "1" || !set.flags.HasAvailableFlags() {
			continue
		}
		fmt.Fprintf(b, ".SH %s\n", set.title)
		set.flags.VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				writeFlag(b, f)
			}
		})
	}
}

// writeFlag writes an entry of a list.
func writeFlag(b io.Writer, f *pflag.Flag) {
	kind, usage := pflag.UnquoteUsage(f)
	names := "--" + f.Name
	if f.Shorthand != "" {
		names = "-" + f.Shorthand + ", " + names
	}
	if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "[]" && f.DefValue != "-1" {
		usage += " (default " + f.DefValue + ")"
	}
	fmt.Fprintf(b, ".TP\n\\fB%s\\fP", roff(names))
	if kind != "" {
		fmt.Fprintf(b, " \\fI%s\\fP", roff(kind))
	}
	fmt.Fprintf(b, "\n%s\n", roff(usage))
}

// section writes a section, unless it is empty. text is in roff already.
func section(b io.Writer, title, text string) {
	if text != "" {
		fmt.Fprintf(b, ".SH %s\n%s\n", title, text)
	}
}

// preformatted keeps the lines of a text: they are set for 80 to 120 columns, with tables and examples in them.
func preformatted(text string) string { return ".nf\n" + roff(text) + "\n.fi" }

// roff escapes what the formatter would take for its own: backslashes, hyphens that are minus signs, and lines that
// begin with a request.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
