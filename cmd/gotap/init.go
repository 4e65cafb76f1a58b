package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"gotap/cmd/gotap/status"
	"gotap/samples"
	"gotap/script/typings"
)

func newInit(w *World) *cobra.Command {
	return &cobra.Command{
		Use:   "init [DIR]",
		Short: "Write types for the editor, jsconfig.json and a first script",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			dir := "."
			if len(args) == 1 {
				dir = args[0]
			}
			return writeProject(w, dir)
		},
	}
}

// writeProject writes what is not there yet; a file of the user's is never overwritten, but the types always are.
func writeProject(w *World, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return status.With(status.Failure, fmt.Errorf("cannot make %s: %w", dir, err))
	}
	first, _ := samples.Find("hello")
	for _, f := range []struct {
		name, text string
		ours       bool
	}{{"gotap.d.ts", typings.Text(), true}, {"jsconfig.json", typings.Config, false}, {"hello.js", first.Text, false}} {
		path := filepath.Join(dir, f.name)
		if _, err := os.Lstat(path); err == nil && !f.ours {
			fmt.Fprintf(w.errs(), "gotap: %s is there already\n", path)
			continue
		} else if err != nil && !errors.Is(err, os.ErrNotExist) {
			return status.With(status.Failure, err)
		}
		if err := os.WriteFile(path, []byte(f.text), 0o644); err != nil {
			return status.With(status.Failure, fmt.Errorf("cannot write %s: %w", path, err))
		}
		fmt.Fprintln(w.out(), path)
	}
	return nil
}
