package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"gotap/cmd/gotap/doctor"
	"gotap/cmd/gotap/status"
	"gotap/engine"
	"gotap/engine/linux/procfs"
)

func newClean(w *World) *cobra.Command {
	return &cobra.Command{
		Use:   "clean PID",
		Short: "Restore what a killed session left in a process",
		Long: `clean compares a process's code with the files it was loaded from, and removes breakpoints left by a session that was
killed together with its supervisor. It also lets the process run on the CPUs again that it may run on, if that session had
set others. A process without such remains is not changed.`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			pid, err := procfs.ParsePid(args[0])
			if err != nil {
				return status.With(status.Usage, fmt.Errorf("PID %w", err))
			}
			done, err := engine.Clean(pid)
			for _, place := range done.Restored {
				fmt.Fprintf(w.out(), "restored %s\n", place)
			}
			if done.CPUs != "" {
				fmt.Fprintf(w.out(), "restored CPUs %s\n", done.CPUs)
			}
			if err != nil {
				return status.With(status.Target, err)
			}
			if len(done.Restored) == 0 && done.CPUs == "" {
				fmt.Fprintf(w.out(), "process %d: nothing to restore\n", pid)
			}
			return nil
		},
	}
}

func newDoctor(w *World) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Report what this machine and user allow, and how to enable the rest",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			for _, f := range doctor.Examine(ownProgram()) {
				f.Print(w.out())
			}
			return nil
		},
	}
}
