package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"gotap/cmd/gotap/bench"
	"gotap/cmd/gotap/filewatch"
	"gotap/cmd/gotap/status"
)

func newBench(w *World) *cobra.Command {
	o := bench.Options{Settle: filewatch.SettleTime}
	c := &cobra.Command{
		Use:   "bench",
		Short: "Measure the cost of a hit on this machine, beside hand-written loops and installed rivals",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if o.Hits < 1 || o.Rounds < 1 {
				return status.With(status.Usage, fmt.Errorf("--hits and --rounds take numbers from 1"))
			}
			return status.With(status.Failure, bench.Run(w.Stdout, w.Stderr, o))
		},
	}
	c.Flags().IntVar(&o.Hits, "hits", 10_000, "hits a round")
	c.Flags().IntVar(&o.Rounds, "rounds", 3, "rounds; the median counts")
	c.Flags().BoolVar(&o.Rivals, "rivals", false, "only other tracers beside gotap, for the same work: bpftrace, uftrace and gdb, where they are installed")
	c.Flags().BoolVar(&o.All, "all", false, "every kind of probe with a stepped instruction too, and more threads")
	return c
}
