package main

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gotap/cmd/gotap/status"
	"gotap/samples"
)

func newSamples(w *World) *cobra.Command {
	topic := ""
	c := &cobra.Command{
		Use:   "samples [NAME]",
		Short: "List the sample library, or print one sample",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return listSamples(w, topic)
			case topic != "":
				return status.With(status.Usage, errors.New("--topic is for the list: a NAME prints that sample"))
			}
			return printSample(w, args[0])
		},
	}
	c.Flags().StringVar(&topic, "topic", "", "list those of a topic alone, named by a word of it: memory")
	return c
}

func printSample(w *World, name string) error {
	s, ok := samples.Find(name)
	if !ok {
		otherwise := "`gotap samples` lists them"
		if isTopic(name) {
			otherwise = "`gotap samples --topic " + name + "` lists those of the topic"
		}
		return status.Hinted(status.With(status.Usage, fmt.Errorf("unknown sample %q", name)), nearSample(name, otherwise))
	}
	fmt.Fprint(w.Stdout, s.Text)
	return nil
}

// isTopic reports whether a word is of a topic's name: memory, files, "system calls".
func isTopic(word string) bool {
	all, _ := samples.All()
	return slices.ContainsFunc(all, func(s samples.Sample) bool { return ofTopic(s, word) })
}

// ofTopic reports whether the words of a sample's topic begin with a text, in which case does not count.
func ofTopic(s samples.Sample, text string) bool {
	return strings.Contains(" "+strings.ToLower(s.Topic), " "+strings.ToLower(text))
}

// listSamples lists those of the topics that have a word, or all of them.
func listSamples(w *World, word string) error {
	all, err := samples.All()
	if err != nil {
		return status.With(status.Failure, err)
	}
	if word != "" && !isTopic(word) {
		return status.Hinted(status.With(status.Usage, fmt.Errorf("unknown topic %q", word)), "`gotap samples` lists all, by topic")
	}
	if word != "" {
		all = slices.DeleteFunc(all, func(s samples.Sample) bool { return !ofTopic(s, word) })
	}
	scripts := slices.DeleteFunc(slices.Clone(all), func(s samples.Sample) bool { return !isScript(s) })
	topic, width := "", 0
	for _, s := range scripts {
		width = max(width, len(s.Name))
	}
	for _, s := range scripts {
		if s.Topic != topic {
			if topic != "" {
				fmt.Fprintln(w.Stdout)
			}
			fmt.Fprintf(w.Stdout, "%s:\n", s.Topic)
			topic = s.Topic
		}
		fmt.Fprintf(w.Stdout, "  %-*s %s\n", width, s.Name, s.Purpose)
	}
	for _, s := range all {
		if !isScript(s) {
			fmt.Fprintf(w.Stdout, "\ndefinition file (gotap help dpdf): %s, %s\n", s.Name, s.Purpose)
		}
	}
	return nil
}

// isScript reports whether a sample is a script and not a definition file.
func isScript(s samples.Sample) bool { return path.Ext(s.File) != ".dpdf" }

// nearSample asks whether a sample of a similar name was meant; without one the hint is otherwise.
func nearSample(name, otherwise string) string {
	all, _ := samples.All()
	names := make([]string, len(all))
	for i, s := range all {
		names[i] = s.Name
	}
	return near(name, names, otherwise)
}

// near returns a hint that asks whether a similar name was meant; without a similar one it returns otherwise. Cobra
// decides which names are similar.
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
