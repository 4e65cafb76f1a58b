package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// newRoot builds the command tree anew for each call, so that nothing is shared between tests.
func newRoot(w *World) *cobra.Command {
	root := &cobra.Command{
		Use:   "gotap",
		Short: "Trace running programs with probes written in JavaScript",
		Long: `gotap puts probes into running programs that nobody can rebuild, scripted in JavaScript.
What runs at a probe is compiled to small, verified, bounded bytecode; everything else is ordinary JavaScript.`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetOut(w.Stdout)
	root.SetErr(w.Stderr)
	root.SetIn(w.Stdin)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return flagError(c, err) })
	root.AddCommand(newRun(w), newRecord(w), newTest(w), newCheck(w), newDis(w), newBuild(w), newList(w), newSamples(w), newBench(w), newDoctor(w), newInit(w), newClean(w), newCtl(w), newEmulate(w), newMan(w))
	addTopics(root)
	addCompletion(w, root)
	return root
}

// flagError explains the one mistake everybody makes: a command line without "--" in front.
func flagError(c *cobra.Command, err error) error {
	hint := fmt.Sprintf("gotap %s --help lists the flags", c.Name())
	if strings.Contains(err.Error(), "unknown") && c.Flags().NArg() > 0 {
		hint = "the program to trace and its arguments come after --, as in: gotap run script.js -- ls -l"
	}
	return &hintError{withStatus(statusUsage, plainFlagError(err)), hint}
}

// plainFlagError leaves out which function could not read a number.
func plainFlagError(err error) error {
	var number *strconv.NumError
	if !errors.As(err, &number) {
		return err
	}
	if i := strings.Index(err.Error(), ": strconv."); i > 0 {
		return fmt.Errorf("%s: %w", err.Error()[:i], number.Err)
	}
	return err
}

// splitCommand parts the arguments before "--" from those after it.
func splitCommand(c *cobra.Command, args []string) (own, command []string) {
	if dash := c.ArgsLenAtDash(); dash >= 0 {
		return args[:dash], args[dash:]
	}
	return args, nil
}
