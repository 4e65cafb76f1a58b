package main

import (
	"errors"

	"github.com/spf13/cobra"

	"gotap"
	"gotap/cmd/gotap/status"
)

func newRun(w *World) *cobra.Command {
	var o runOptions
	c := &cobra.Command{
		Use:   "run [flags] SCRIPT… [-- COMMAND ARG…]",
		Short: "Trace a program with a script",
		Long: `run traces COMMAND, started stopped before its first instruction, or the processes given with -p or --container.
With neither it probes a small demonstration process of its own.

SCRIPT is a file, - for standard input, the name of a sample, or the text given with -e. Words behind a sample are the value of its first
option: gotap run funccount 'mem*' 'str*' -- ls. Files of scripts and definitions behind the first join the same session; --arg is for the
first script, -D and -I are for all definition files. To see calls without a script use gotap trace.
Ctrl-C once ends the run: end() runs, aggregations print, and the target is restored. Twice detaches at once.
SIGUSR1 prints the current aggregations; the run goes on.

COMMAND gets SIGTERM when the run ends before it; processes of -p go on. A failure of COMMAND or of a -p process is reported on standard
error, as in "ls: exit status 2" or "ls: killed by SIGSEGV (core dumped)".

The exit status is 0 when tracing succeeded, whatever COMMAND's is; 1 failure at run time; 2 usage, or a script that does not
compile; 3 cannot launch, attach to or read the target; 4 no probe matched. Otherwise it is the first of these that is not 0: n of the
script's stop(n); with --preserve-status COMMAND's status, or 128+N when signal N ended it; 1 when a callback threw.`,
		RunE: func(c *cobra.Command, args []string) error {
			return runScript(w, c, args, &o, func(gotap.Script) {})
		},
	}
	o.register(c)
	w.registerFetch(c)
	addScriptHelp(w, c, &o)
	return c
}

// runScript is the body of run and record; adjust may change the flags once the script is known.
func runScript(w *World, c *cobra.Command, args []string, o *runOptions, adjust func(gotap.Script)) error {
	return runText(w, c, args, o, func(own, command []string) (gotap.Script, error) {
		if c.Name() == "run" && !c.Flags().Changed("eval") {
			own = o.takeFurther(own)
		}
		if script, err := o.sampleWithWords(w, own, command, c.Flags().Changed("eval")); err != nil || script.Name != "" {
			return script, err
		}
		return readProgram(w, own, o.text, c.Flags().Changed("eval"))
	}, adjust)
}

// runText runs a script that find finds by the command's own arguments and by COMMAND.
func runText(w *World, c *cobra.Command, args []string, o *runOptions, find func(own, command []string) (gotap.Script, error), adjust func(gotap.Script)) error {
	if w.control == nil && o.background && w.background == nil {
		return launchBackground(w)
	}
	if w.control == nil {
		return supervise(w, o.shown.Top())
	}
	own, command := splitCommand(c, args)
	if c.ArgsLenAtDash() >= 0 && len(command) == 0 {
		return status.With(status.Usage, errors.New("no program comes after --"))
	}
	if !c.Flags().Changed("max-probes") {
		o.maxSites = sitesOfEngine
	}
	text, err := find(own, command)
	if err != nil {
		return o.unread(w, command, err)
	}
	adjust(text)
	p, err := o.check(w, text.Name, command)
	if err != nil {
		return err
	}
	r := planned(w, p)
	return r.run(text)
}

// unread reports that a script cannot be read: with -f json as a record, like all errors.
func (o *runOptions) unread(w *World, command []string, err error) error {
	p, bad := o.check(w, "", command)
	if bad != nil || !p.json {
		return err
	}
	r := planned(w, p)
	r.complain(err)
	return r.end(status.Of(err))
}
