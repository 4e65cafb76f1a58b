package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"gotap/samples"
)

func newSamples(w *World) *cobra.Command {
	return &cobra.Command{
		Use:   "samples [NAME]",
		Short: "List the sample library, or print one sample",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				return printSample(w, args[0])
			}
			return listSamples(w)
		},
	}
}

func printSample(w *World, name string) error {
	s, ok := samples.Find(name)
	if !ok {
		return &hintError{withStatus(statusUsage, fmt.Errorf("there is no sample %q", name)), nearSample(name, "`gotap samples` lists them")}
	}
	fmt.Fprint(w.Stdout, s.Text)
	return nil
}

func listSamples(w *World) error {
	all, err := samples.All()
	if err != nil {
		return withStatus(statusFailure, err)
	}
	topic, width := "", 0
	for _, s := range all {
		width = max(width, len(s.Name))
	}
	for _, s := range all {
		if s.Topic != topic {
			if topic != "" {
				fmt.Fprintln(w.Stdout)
			}
			fmt.Fprintf(w.Stdout, "%s:\n", s.Topic)
			topic = s.Topic
		}
		fmt.Fprintf(w.Stdout, "  %-*s %s\n", width, s.Name, s.Purpose)
	}
	return nil
}

// nearSample asks whether a sample of a similar name was meant; without one the hint is otherwise.
func nearSample(name, otherwise string) string {
	all, _ := samples.All()
	names := make([]string, len(all))
	for i, s := range all {
		names[i] = s.Name
	}
	return near(name, names, otherwise)
}

// near asks whether one of the names was meant; where none is like it the hint is otherwise. What is like another is cobra's idea.
func near(name string, names []string, otherwise string) string {
	known := &cobra.Command{SuggestionsMinimumDistance: 2}
	for _, n := range names {
		known.AddCommand(&cobra.Command{Use: n, Run: func(*cobra.Command, []string) {}})
	}
	if like := known.SuggestionsFor(name); len(like) > 0 {
		return "did you mean " + strings.Join(like[:min(len(like), 3)], ", ") + "?"
	}
	return otherwise
}
