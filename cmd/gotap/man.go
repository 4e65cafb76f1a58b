package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"gotap/cmd/gotap/manpage"
	"gotap/cmd/gotap/status"
)

// exitStatuses are those of status.go, as the manual has them.
const exitStatuses = "0; 1 failure at run time; 2 usage or a script that does not compile; 3 cannot launch, attach to or read the target; " +
	"4 no probe matched; stop(n) in a script gives n."

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
	for _, p := range manpage.Pages(root, exitStatuses) {
		path := filepath.Join(dir, p.Path())
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err == nil {
			err = os.WriteFile(path, []byte(p.Text()), 0o644)
		}
		if err != nil {
			return status.With(status.Failure, fmt.Errorf("cannot write the manual: %w", err))
		}
		n++
	}
	fmt.Fprintf(w.Stdout, "%s in %s\n", plural(n, "page"), dir)
	return nil
}
