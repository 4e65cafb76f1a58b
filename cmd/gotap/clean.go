package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"gotap/cmd/gotap/doctor"
	"gotap/engine"
)

func newClean(w *World) *cobra.Command {
	return &cobra.Command{
		Use:   "clean PID",
		Short: "Restore what a killed session left in a process",
		Long: `clean compares the code of a process with the files it comes from, and takes breakpoints out that a session left which was
killed together with its supervisor. In a process that has none it changes nothing.`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			pid, err := parsePid(args[0])
			if err != nil {
				return withStatus(statusUsage, fmt.Errorf("PID %w", err))
			}
			done, err := engine.Clean(pid)
			for _, place := range done.Restored {
				fmt.Fprintf(w.out(), "restored %s\n", place)
			}
			if err != nil {
				return withStatus(statusTarget, err)
			}
			if len(done.Restored) == 0 {
				fmt.Fprintf(w.out(), "process %d: nothing to restore\n", pid)
			}
			return nil
		},
	}
}

func newDoctor(w *World) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Tell what this machine and user can do, and the remedy for what they cannot",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			for _, f := range doctor.Examine(ownProgram()) {
				f.Print(w.out())
			}
			return nil
		},
	}
}
