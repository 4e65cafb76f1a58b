package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gotap"
	"gotap/compile/diag"
)

func newExplain(w *World) *cobra.Command {
	var flags scriptFlags
	c := &cobra.Command{
		Use:   "explain SCRIPT",
		Short: "Show which lines of a script run at the probes, and which on the host",
		Long: `explain prints a script with a margin that shows how many bytecode instructions each line became. Lines with a number run
at the probes, while a thread of the target waits; all others run on the host, beside the target. The bounds of every program
follow, as gotap check prints them. Of modules, only the lines that programs use are shown.`,
		RunE: flags.run(w, func(t *gotap.Checked) error {
			for _, s := range sources(t) {
				s.print(w)
			}
			fmt.Fprintln(w.out())
			printChecked(w, t)
			return nil
		}),
	}
	flags.lookOnly = true
	flags.register(c)
	return c
}

// A splitSource is a file of a script, with the commands that each of its lines became, in all programs together.
type splitSource struct {
	*diag.Source
	commands map[int]int // by line, from 1
	module   bool        // only lines of programs are worth showing
}

// sources returns the files that programs were compiled from: the script itself, even without programs, and then the
// modules by name.
func sources(t *gotap.Checked) []splitSource {
	found := map[string]splitSource{t.Source.Name: {t.Source, map[int]int{}, false}}
	for _, p := range t.Programs {
		for _, op := range p.Code {
			src := op.Pos.Source
			if src == nil {
				continue
			}
			if _, known := found[src.Name]; !known {
				found[src.Name] = splitSource{src, map[int]int{}, true}
			}
			found[src.Name].commands[src.Position(op.Pos.Start).Line]++
		}
	}
	var list []splitSource
	for _, s := range found {
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b splitSource) int {
		if a.module != b.module && b.module {
			return -1
		} else if a.module != b.module {
			return 1
		}
		return cmp.Compare(a.Name, b.Name)
	})
	return list
}

func (s splitSource) print(w *World) {
	fmt.Fprintf(w.out(), "%s: lines with a number run at the probe, as so many commands; all others run on the host\n", s.Name)
	for i, line := range strings.Split(strings.TrimSuffix(s.Text, "\n"), "\n") {
		n := s.commands[i+1]
		switch {
		case n > 0:
			fmt.Fprintf(w.out(), "%6d | %s\n", n, line)
		case !s.module:
			fmt.Fprintln(w.out(), strings.TrimRight("       | "+line, " "))
		}
	}
}
