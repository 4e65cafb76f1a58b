package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"gotap/cmd/gotap/client"
	"gotap/cmd/gotap/status"
	"gotap/cmd/gotap/wire"
	"gotap/engine/linux/procfs"
)

// ctl is `gotap ctl`: its verbs make the requests, its client asks and prints.
type ctl struct {
	w      *World
	format string
	client.Client
}

func newCtl(w *World) *cobra.Command {
	k := &ctl{w: w, Client: client.Client{Stdout: w.Stdout, Stderr: w.Stderr}}
	c := &cobra.Command{
		Use:   "ctl VERB",
		Short: "Query or change a running session",
		Long: `ctl talks to a running session of the same user: the only one, or the one that --session names.
gotap ctl sessions lists them.`,
		PersistentPreRunE: func(*cobra.Command, []string) error { return k.checkFormat() },
		RunE:              func(c *cobra.Command, args []string) error { return badVerb(c, args) },
	}
	f := c.PersistentFlags()
	f.IntVar(&k.Session, "session", 0, "the session: the number of the gotap run process, or the one that sessions lists")
	f.StringVarP(&k.format, "format", "f", "text", "text or json")
	c.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{"text", "json"}, cobra.ShellCompDirectiveNoFileComp))
	f.BoolVarP(&k.Quiet, "quiet", "q", false, "no status")
	c.AddCommand(k.sessionsVerb(), k.queryVerb(), k.getvarsVerb(), k.setVerb(), k.resetVerb(), k.insertVerb(), k.removeVerb(),
		k.nameVerb("enable", "Arm the probes of a name or a pattern again"), k.nameVerb("disable", "Disarm the probes of a name or a pattern; they stay registered"), k.stopVerb())
	return c
}

func (k *ctl) checkFormat() error {
	if k.format != "text" && k.format != "json" {
		return status.With(status.Usage, fmt.Errorf("--format is text or json, not %q", k.format))
	}
	k.JSON = k.format == "json"
	if k.Session < 0 || k.Session > procfs.MaxPid {
		return status.With(status.Usage, fmt.Errorf("--session %d: sessions are numbered as processes are", k.Session))
	}
	return nil
}

// badVerb returns the error about a missing or unknown verb.
func badVerb(c *cobra.Command, args []string) error {
	var names []string
	for _, sub := range c.Commands() {
		names = append(names, sub.Name())
	}
	err := errors.New("no verb is given")
	if len(args) > 0 {
		err = fmt.Errorf("unknown verb %q", args[0])
	}
	return status.Hinted(status.With(status.Usage, err), "one of "+strings.Join(names, ", "))
}

// verb returns a command that sends one request.
func (k *ctl) verb(use, short string, args cobra.PositionalArgs, request func(args []string) (wire.Request, error)) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Args: args, RunE: func(_ *cobra.Command, args []string) error {
		q, err := request(args)
		if err == nil {
			err = k.Do(q)
		}
		return k.Report(err)
	}}
}

func (k *ctl) queryVerb() *cobra.Command {
	return k.verb("query", "Tell the state of every probe, a line each", cobra.NoArgs,
		func([]string) (wire.Request, error) { return wire.Request{Verb: "query"}, nil })
}

func (k *ctl) resetVerb() *cobra.Command {
	return k.verb("reset", "Set variables and aggregations back to what they were at the beginning", cobra.NoArgs,
		func([]string) (wire.Request, error) { return wire.Request{Verb: "reset"}, nil })
}

func (k *ctl) getvarsVerb() *cobra.Command {
	reset, index := false, ""
	c := k.verb("getvars [NAME]", "Print shared variables, aggregations and maps: all, or those of a name, a pattern or an inserted script", cobra.MaximumNArgs(1),
		func(args []string) (q wire.Request, err error) {
			q = wire.Request{Verb: "getvars", Name: strings.Join(args, ""), Reset: reset}
			if reset && (q.Name != "" || index != "") {
				return q, status.With(status.Usage, errors.New("--reset is for all variables, without NAME and --index"))
			}
			q.Index, err = indexRange(index)
			return q, status.With(status.Usage, err)
		})
	c.Flags().StringVar(&index, "index", "", "only elements with these `indices`: 3, or 0-7")
	c.Flags().BoolVar(&reset, "reset", false, "set them back as they are read: what is added meanwhile is not lost")
	return c
}

// indexRange understands "3" and "0-7"; nil without text.
func indexRange(text string) (*wire.Range, error) {
	if text == "" {
		return nil, nil
	}
	first, last, several := strings.Cut(text, "-")
	if !several {
		last = first
	}
	from, err := strconv.ParseInt(first, 0, 64)
	to, err2 := strconv.ParseInt(last, 0, 64)
	if err != nil || err2 != nil || to < from {
		return nil, status.Hinted(fmt.Errorf("--index %s is neither an index nor a range", text), "as in --index 3 or --index 0-7")
	}
	return &wire.Range{First: from, Last: to}, nil
}

func (k *ctl) setVerb() *cobra.Command {
	return k.verb("set NAME=VALUE", "Give a variable that programs share a value: an integer, true or false, or a text", cobra.ExactArgs(1),
		func(args []string) (wire.Request, error) {
			name, value, ok := strings.Cut(args[0], "=")
			if !ok || name == "" {
				return wire.Request{}, status.Hinted(status.With(status.Usage, fmt.Errorf("set takes NAME=VALUE, not %q", args[0])), "gotap ctl getvars lists the variables")
			}
			return wire.Request{Verb: "set", Name: name, Value: value}, nil
		})
}

func (k *ctl) nameVerb(verb, short string) *cobra.Command {
	all := false
	c := k.verb(verb+" NAME | --all", short, cobra.MaximumNArgs(1),
		func(args []string) (wire.Request, error) {
			if all == (len(args) == 1) {
				return wire.Request{}, status.Hinted(status.With(status.Usage, fmt.Errorf("%s takes a name, or --all", verb)), "gotap ctl query lists the names")
			}
			return wire.Request{Verb: verb, Name: strings.Join(args, ""), All: all}, nil
		})
	c.Flags().BoolVar(&all, "all", false, "all probes")
	return c
}

func (k *ctl) removeVerb() *cobra.Command {
	c := k.nameVerb("remove", "Remove the probes of a name, a pattern, codes (MAJOR,MINOR) or a number (#ID), or an inserted script")
	c.Flag("all").Usage = "all probes; the session goes on"
	return c
}

func (k *ctl) insertVerb() *cobra.Command {
	var q wire.Request
	var args []string
	var flags definitionFlags
	c := k.verb("insert SCRIPT", "Have a further script or definition file join the session", cobra.ExactArgs(1),
		func(own []string) (_ wire.Request, err error) {
			q.Verb = "insert"
			if err := q.CheckInsert(); err != nil {
				return q, status.With(status.Usage, err)
			}
			if q.Script, err = k.readScript(own, args); err != nil {
				return q, err
			}
			return q, status.With(status.Failure, flags.putInto(q.Script))
		})
	c.Flags().BoolVar(&q.Replace, "replace", false, "take the place of the script of the same file, if it is there")
	c.Flags().BoolVar(&q.Merge, "merge", false, "of a definition file that is there: its new probes join, and all others stay")
	c.Flags().StringVar(&q.Missing, "missing", "", "what a probe that cannot be placed is: error, warn or ignore (default as the session has it)")
	c.Flags().StringArrayVar(&args, "arg", nil, "name=value, read by option() in the script (repeatable)")
	flags.register(c)
	flags.registerSelection(c)
	return c
}

// readScript reads a script as run does, and makes its paths absolute: the session has another working directory.
func (k *ctl) readScript(own, args []string) (*wire.Script, error) {
	text, err := readProgram(k.w, own, "", false)
	if err != nil {
		return nil, err
	}
	p := plan{runOptions: runOptions{args: args}}
	if err := p.checkArgs(); err != nil {
		return nil, status.With(status.Usage, err)
	}
	sent := &wire.Script{Name: text.Name, Text: text.Text, Args: p.args}
	if sent.Dir, err = filepath.Abs(text.Dir); err != nil {
		return nil, status.With(status.Failure, err)
	}
	if !utf8.ValidString(sent.Text) {
		sent.Text, sent.Data = "", []byte(text.Text)
	}
	if own[0] != "-" {
		sent.Path = filepath.Join(sent.Dir, filepath.Base(text.Name))
	}
	return sent, nil
}

func (k *ctl) stopVerb() *cobra.Command {
	return &cobra.Command{Use: "stop", Short: "End the session as Ctrl-C does, and wait until it has ended", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return k.Report(k.Stop()) }}
}

func (k *ctl) sessionsVerb() *cobra.Command {
	return &cobra.Command{Use: "sessions", Aliases: []string{"list"}, Short: "List this user's sessions", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return k.Report(k.Sessions()) }}
}
