package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"gotap/cmd/gotap/wire"
	"gotap/engine/linux/procfs"
)

// ctlClient is `gotap ctl`: it finds a session, asks, and prints the answer.
type ctlClient struct {
	w       *World
	session int
	format  string
	quiet   bool
}

func newCtl(w *World) *cobra.Command {
	k := &ctlClient{w: w}
	c := &cobra.Command{
		Use:   "ctl VERB",
		Short: "Query or change a running session",
		Long: `ctl talks to a running session of the same user: the only one, or the one that --session names.
gotap ctl sessions lists them.`,
		PersistentPreRunE: func(*cobra.Command, []string) error { return k.checkFormat() },
		RunE:              func(c *cobra.Command, args []string) error { return badVerb(c, args) },
	}
	f := c.PersistentFlags()
	f.IntVar(&k.session, "session", 0, "the session: the number of the gotap run process, or the one that sessions lists")
	f.StringVarP(&k.format, "format", "f", "text", "text or json")
	c.RegisterFlagCompletionFunc("format", words("text", "json"))
	f.BoolVarP(&k.quiet, "quiet", "q", false, "no status")
	c.AddCommand(k.sessionsVerb(), k.queryVerb(), k.getvarsVerb(), k.setVerb(), k.resetVerb(), k.insertVerb(), k.removeVerb(),
		k.nameVerb("enable", "Arm the probes of a name or a pattern again"), k.nameVerb("disable", "Disarm the probes of a name or a pattern; they stay registered"), k.stopVerb())
	return c
}

func (k *ctlClient) checkFormat() error {
	if k.format != "text" && k.format != "json" {
		return withStatus(statusUsage, fmt.Errorf("--format is text or json, not %q", k.format))
	}
	if k.session < 0 || k.session > procfs.MaxPid {
		return withStatus(statusUsage, fmt.Errorf("--session %d: sessions are numbered as processes are", k.session))
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
	return &hintError{withStatus(statusUsage, err), "one of " + strings.Join(names, ", ")}
}

// verb returns a command that sends one request.
func (k *ctlClient) verb(use, short string, args cobra.PositionalArgs, request func(args []string) (wire.Request, error)) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Args: args, RunE: func(_ *cobra.Command, args []string) error {
		q, err := request(args)
		if err == nil {
			err = k.ask(q, nil)
		}
		return k.report(err)
	}}
}

func (k *ctlClient) queryVerb() *cobra.Command {
	return k.verb("query", "Tell the state of every probe, a line each", cobra.NoArgs,
		func([]string) (wire.Request, error) { return wire.Request{Verb: "query"}, nil })
}

func (k *ctlClient) resetVerb() *cobra.Command {
	return k.verb("reset", "Set variables and aggregations back to what they were at the beginning", cobra.NoArgs,
		func([]string) (wire.Request, error) { return wire.Request{Verb: "reset"}, nil })
}

func (k *ctlClient) getvarsVerb() *cobra.Command {
	reset, index := false, ""
	c := k.verb("getvars [NAME]", "Print shared variables, aggregations and maps: all, or those of a name, a pattern or an inserted script", cobra.MaximumNArgs(1),
		func(args []string) (q wire.Request, err error) {
			q = wire.Request{Verb: "getvars", Name: strings.Join(args, ""), Reset: reset}
			if reset && (q.Name != "" || index != "") {
				return q, withStatus(statusUsage, errors.New("--reset is for all variables, without NAME and --index"))
			}
			q.Index, err = indexRange(index)
			return q, withStatus(statusUsage, err)
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
		return nil, &hintError{fmt.Errorf("--index %s is neither an index nor a range", text), "as in --index 3 or --index 0-7"}
	}
	return &wire.Range{First: from, Last: to}, nil
}

func (k *ctlClient) setVerb() *cobra.Command {
	return k.verb("set NAME=VALUE", "Give a variable that programs share a value: an integer, true or false, or a text", cobra.ExactArgs(1),
		func(args []string) (wire.Request, error) {
			name, value, ok := strings.Cut(args[0], "=")
			if !ok || name == "" {
				return wire.Request{}, &hintError{withStatus(statusUsage, fmt.Errorf("set takes NAME=VALUE, not %q", args[0])), "gotap ctl getvars lists the variables"}
			}
			return wire.Request{Verb: "set", Name: name, Value: value}, nil
		})
}

func (k *ctlClient) nameVerb(verb, short string) *cobra.Command {
	all := false
	c := k.verb(verb+" NAME | --all", short, cobra.MaximumNArgs(1),
		func(args []string) (wire.Request, error) {
			if all == (len(args) == 1) {
				return wire.Request{}, &hintError{withStatus(statusUsage, fmt.Errorf("%s takes a name, or --all", verb)), "gotap ctl query lists the names"}
			}
			return wire.Request{Verb: verb, Name: strings.Join(args, ""), All: all}, nil
		})
	c.Flags().BoolVar(&all, "all", false, "all probes")
	return c
}

func (k *ctlClient) removeVerb() *cobra.Command {
	c := k.nameVerb("remove", "Remove the probes of a name, a pattern, codes (MAJOR,MINOR) or a number (#ID), or an inserted script")
	c.Flag("all").Usage = "all probes; the session goes on"
	return c
}

func (k *ctlClient) insertVerb() *cobra.Command {
	replace, merge, missing, args := false, false, "", []string(nil)
	var flags definitionFlags
	c := k.verb("insert SCRIPT", "Have a further script or definition file join the session", cobra.ExactArgs(1),
		func(own []string) (wire.Request, error) {
			if err := checkInsert(replace, merge, missing); err != nil {
				return wire.Request{}, withStatus(statusUsage, err)
			}
			sent, err := k.readScript(own, args)
			if err != nil {
				return wire.Request{}, err
			}
			if err := flags.putInto(sent); err != nil {
				return wire.Request{}, withStatus(statusFailure, err)
			}
			return wire.Request{Verb: "insert", Script: sent, Replace: replace, Merge: merge, Missing: missing}, nil
		})
	c.Flags().BoolVar(&replace, "replace", false, "take the place of the script of the same file, if it is there")
	c.Flags().BoolVar(&merge, "merge", false, "of a definition file that is there: its new probes join, and all others stay")
	c.Flags().StringVar(&missing, "missing", "", "what a probe that cannot be placed is: error, warn or ignore (default as the session has it)")
	c.Flags().StringArrayVar(&args, "arg", nil, "name=value, read by option() in the script (repeatable)")
	flags.register(c)
	flags.registerSelection(c)
	return c
}

// checkInsert refuses unknown values of insert's flags, and flags that exclude each other.
func checkInsert(replace, merge bool, missing string) error {
	if replace && merge {
		return errors.New("--replace and --merge exclude each other")
	}
	switch missing {
	case "", "error", "warn", "ignore":
		return nil
	}
	return fmt.Errorf("--missing is error, warn or ignore, not %q", missing)
}

// readScript reads a script as run does, and makes its paths absolute: the session has another working directory.
func (k *ctlClient) readScript(own, args []string) (*wire.Script, error) {
	text, err := readProgram(k.w, own, "", false)
	if err != nil {
		return nil, err
	}
	p := plan{runOptions: runOptions{args: args}}
	if err := p.checkArgs(); err != nil {
		return nil, withStatus(statusUsage, err)
	}
	sent := &wire.Script{Name: text.Name, Text: text.Text, Args: p.args}
	if sent.Dir, err = filepath.Abs(text.Dir); err != nil {
		return nil, withStatus(statusFailure, err)
	}
	if !utf8.ValidString(sent.Text) {
		sent.Text, sent.Data = "", []byte(text.Text)
	}
	if own[0] != "-" {
		sent.Path = filepath.Join(sent.Dir, filepath.Base(text.Name))
	}
	return sent, nil
}

func (k *ctlClient) stopVerb() *cobra.Command {
	return &cobra.Command{Use: "stop", Short: "End the session as Ctrl-C does, and wait until it has ended", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return k.report(k.ask(wire.Request{Verb: "stop"}, awaitEnd)) }}
}

// awaitEnd waits until a session has ended, which closes the connection.
func awaitEnd(c *wire.Conn) error {
	var none wire.Reply
	if err := c.Receive(&none, endTime); isTimeout(err) {
		return withStatus(statusFailure, fmt.Errorf("the session is still ending after %v", endTime))
	}
	return nil
}

// Times of a client: for an answer, when something is inserted into a large program, and for a session to end.
const (
	answerTime = 60 * time.Second
	endTime    = 30 * time.Second
)

// ask finds the session, sends a request and prints the answer; then it calls then, which may be nil.
func (k *ctlClient) ask(q wire.Request, then func(*wire.Conn) error) error {
	c, reply, err := k.exchange(q)
	if c == nil {
		return err
	}
	defer c.Close()
	if err == nil {
		err = k.print(q.Verb, reply)
	}
	if err == nil && then != nil {
		err = then(c)
	}
	return err
}

// exchange finds the session and sends it a request. A session that ends while clients wait breaks their connections
// before it has read anything, so the request is sent once more, to the sessions there are then.
func (k *ctlClient) exchange(q wire.Request) (c *wire.Conn, reply wire.Reply, err error) {
	for range 2 {
		if c, err = k.find(); err != nil {
			return nil, reply, err
		}
		if reply, err = exchangeWith(c, q); !errors.Is(err, unix.ECONNRESET) && !errors.Is(err, unix.EPIPE) {
			break
		}
		defer c.Close()
	}
	return c, reply, err
}

// exchangeWith sends a request and waits for the answer. A refusal is an error with the session's text.
func exchangeWith(c *wire.Conn, q wire.Request) (wire.Reply, error) {
	q.Version = wire.Version
	var reply wire.Reply
	err := c.Send(q, wire.RequestTime)
	if err == nil {
		err = c.Receive(&reply, answerTime)
	}
	switch {
	case errors.Is(err, unix.ECONNRESET), errors.Is(err, unix.EPIPE), errors.Is(err, io.EOF):
		return reply, &hintError{withStatus(statusTarget, fmt.Errorf("the session ended before it answered: %w", err)), "gotap ctl sessions lists those there are"}
	case err != nil:
		return reply, withStatus(statusTarget, fmt.Errorf("cannot talk to the session: %w", err))
	case reply.Error != nil:
		return reply, withStatus(reply.Error.Status, &sessionError{reply.Error})
	case reply.Version != wire.Version:
		return reply, withStatus(statusFailure, fmt.Errorf("the session speaks version %d of the protocol, this gotap version %d", reply.Version, wire.Version))
	}
	return reply, nil
}
