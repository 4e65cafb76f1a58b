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
	topic := ""
	for _, s := range all {
		if s.Topic != topic {
			if topic != "" {
				fmt.Fprintln(w.Stdout)
			}
			fmt.Fprintf(w.Stdout, "%s:\n", s.Topic)
			topic = s.Topic
		}
		fmt.Fprintf(w.Stdout, "  %-14s %s\n", s.Name, s.Purpose)
	}
	return nil
}

// nearSample asks whether a sample of a similar name was meant; without one the hint is otherwise.
func nearSample(name, otherwise string) string {
	known := &cobra.Command{SuggestionsMinimumDistance: 2}
	all, _ := samples.All()
	for _, s := range all {
		known.AddCommand(&cobra.Command{Use: s.Name, Run: func(*cobra.Command, []string) {}})
	}
	if near := known.SuggestionsFor(name); len(near) > 0 {
		return "did you mean " + strings.Join(near[:min(len(near), 3)], ", ") + "?"
	}
	return otherwise
}
