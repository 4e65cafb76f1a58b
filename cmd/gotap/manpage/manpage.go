// Package manpage writes manual pages for man(1) from a tree of cobra commands.
//
// A command becomes a page of section 1 with its synopsis, description and flags. A command that does nothing and has
// no subcommands is a topic of the help, and becomes a page of section 7. Pages refer to those directly above and below
// them.
//
// Functions only read the commands. They keep nothing, so any goroutine may call them.
package manpage

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A Page is the manual page of a command or a topic.
type Page struct {
	name    string // "gotap-run"
	section string // "1" commands, "7" topics
	command *cobra.Command
	see     []string // other pages, "gotap-run(1)"
	exits   string   // the section EXIT STATUS; "": none
}

// Pages returns the pages of a tree of commands, in the order of the tree: commands, their verbs, topics. Hidden
// commands and help have none. exits is the text of the root's section EXIT STATUS; "" leaves the section out.
func Pages(root *cobra.Command, exits string) (all []Page) {
	var add func(c *cobra.Command)
	add = func(c *cobra.Command) {
		if c.Hidden || c.Name() == "help" {
			return
		}
		section := "1"
		if !c.Runnable() && !c.HasSubCommands() {
			section = "7"
		}
		all = append(all, Page{name: strings.ReplaceAll(c.CommandPath(), " ", "-"), section: section, command: c})
		for _, sub := range c.Commands() {
			add(sub)
		}
	}
	add(root)
	all[0].exits = exits
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

// Path returns where the page belongs in a directory of manual pages: "man1/gotap-run.1".
func (p Page) Path() string { return filepath.Join("man"+p.section, p.name+"."+p.section) }

// Text returns the page in the language of man(7).
func (p Page) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s %s \"\" %s \"%[3]s manual\"\n", strings.ToUpper(roff(p.name)), p.section, p.command.Root().Name())
	section(&b, "NAME", roff(p.name+" - "+p.command.Short))
	if p.section == "1" {
		section(&b, "SYNOPSIS", "\\fB"+roff(p.command.UseLine())+"\\fP")
	}
	section(&b, "DESCRIPTION", preformatted(p.description()))
	p.flags(&b)
	section(&b, "EXIT STATUS", roff(p.exits))
	section(&b, "SEE ALSO", roff(strings.Join(p.see, ", ")))
	return b.String()
}

func (p Page) description() string {
	if p.command.Long != "" {
		return p.command.Long
	}
	return p.command.Short
}

// flags lists the command's flags: first its own, then those of its parents.
func (p Page) flags(b *strings.Builder) {
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
