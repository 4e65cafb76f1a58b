package main

import (
	"cmp"
	"embed"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"gotap/cmd/gotap/status"
	"gotap/cmd/gotap/terminal"
	"gotap/compile/js/builtin"
	"gotap/script"
)

//go:embed topics/*.txt
var topicTexts embed.FS

// topics are the pages of `gotap help` that are not about commands.
var topics = []struct{ name, about string }{
	{"probes", "how places are named, and what probes can do"},
	{"language", "what programs and callbacks are"},
	{"builtins", "every name that a script finds"},
	{"dpdf", "definition files of DProbes"},
	{"engines", "how a hit runs, and --engine"},
	{"output", "formats of the data, and live views"},
	{"safety", "what is promised about targets"},
}

// addTopics adds the pages as commands that only have help.
func addTopics(root *cobra.Command) {
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), "{{rpad .CommandPath .CommandPathPadding}}", "gotap help {{rpad .Name 10}}"))
	for _, t := range topics {
		root.AddCommand(&cobra.Command{Use: t.name, Short: t.about, Long: topicText(t.name)})
	}
}

// newHelp is cobra's help command, but an unknown name is an error with a suggestion.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND or TOPIC]",
		Short: "Help about any command, and pages about probes, language, builtins, dpdf, engines, output, safety",
		ValidArgsFunction: func(c *cobra.Command, args []string, toComplete string) (names []string, _ cobra.ShellCompDirective) {
			above, _, err := c.Root().Find(args)
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			for _, sub := range above.Commands() {
				if strings.HasPrefix(sub.Name(), toComplete) && !sub.Hidden {
					names = append(names, cobra.CompletionWithDesc(sub.Name(), sub.Short))
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, args []string) error {
			found, rest, err := c.Root().Find(args)
			if err != nil || found == nil || len(rest) > 0 {
				return status.Hinted(status.With(status.Usage, fmt.Errorf("unknown command or topic %q", strings.Join(args, " "))),
					nearCommand(c.Root(), args[len(args)-1]))

			}
			found.InitDefaultHelpFlag()
			return found.Help()
		},
	}
}

// help prints the help of a command, on a terminal in lines of its width.
func (w *World) help(c *cobra.Command) {
	text := strings.TrimRight(cmp.Or(c.Long, c.Short), " \n")
	if c.Runnable() || c.HasSubCommands() {
		text += "\n\n" + c.UsageString()
	} else {
		text += "\n\n"
	}
	fmt.Fprint(w.out(), terminal.Wrap(text, terminal.Columns(w.Stdout)))
}

func topicText(name string) string {
	if name == "builtins" {
		return builtinsText()
	}
	b, err := topicTexts.ReadFile("topics/" + name + ".txt")
	if err != nil {
		panic(err) // the texts are embedded under the names of the table
	}
	return strings.TrimSuffix(string(b), "\n")
}

// builtinsText lists the tables that the language is made of.
func builtinsText() string {
	var b strings.Builder
	b.WriteString("IN PROGRAMS\n\n")
	for _, f := range builtin.All() {
		doc := f.Doc
		if f.Unsafe {
			doc += " (--unsafe)"
		}
		fmt.Fprintf(&b, "  %-34s %s\n", f.Usage, doc)
	}
	b.WriteString("\nTHE CONTEXT OF A PROGRAM\n\n")
	for _, m := range builtin.Members() {
		fmt.Fprintf(&b, "  %-34s %s\n", "c."+m.Name, m.Doc)
	}
	b.WriteString("\nON THE HOST\n\n")
	for _, f := range script.Builtins() {
		fmt.Fprintf(&b, "  %-34s %s\n", f.Name, f.Doc)
	}
	b.WriteString("\nOPTIONS OF A PROBE\n\n")
	for _, o := range script.ProbeOptions() {
		fmt.Fprintf(&b, "  %-34s %s\n", o.Name, o.Doc)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
