package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"gotap/cmd/gotap/wire"
)

// sessionError is a session's refusal, with the status and the hint it came with.
type sessionError struct{ why *wire.Error }

func (e *sessionError) Error() string { return e.why.Text }
func (e *sessionError) Hint() string  { return e.why.Hint }

func isTimeout(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }

// find connects to the chosen session, or to the only one.
func (k *ctlClient) find() (*wire.Conn, error) {
	if k.session != 0 {
		return k.findNumbered()
	}
	dir, ids, err := liveSessions()
	if err != nil {
		return nil, err
	}
	if len(ids) == 0 {
		return nil, &hintError{withStatus(statusTarget, errors.New("no session of this user is running")),
			"gotap run starts one; XDG_RUNTIME_DIR, if it is set, has to be the same there and here"}
	}
	defer dir.Close()
	if len(ids) == 1 {
		c, err := dir.Connect(ids[0])
		return c, withStatus(statusTarget, err)
	}
	var lines []string
	for _, s := range dir.Describe(ids) {
		lines = append(lines, "  "+sessionLine(s))
	}
	return nil, &hintError{withStatus(statusUsage, fmt.Errorf("%d sessions are running:\n%s", len(ids), strings.Join(lines, "\n"))),
		fmt.Sprintf("--session %d chooses the first", ids[0])}
}

// liveSessions lists the sessions of the directory that this environment names. If the directory does not exist,
// dir and ids are nil.
func liveSessions() (dir *wire.Dir, ids []int, err error) {
	dir, err = wire.Open(false)
	if wire.IsNone(err) {
		return nil, nil, nil
	}
	if err == nil {
		ids, err = dir.Sessions()
	}
	return dir, ids, withStatus(statusTarget, err)
}

// findNumbered connects to a session by its own number or by that of the process that the user started. The session may
// have been started without XDG_RUNTIME_DIR, so the other directory is searched too; the number is unique.
func (k *ctlClient) findNumbered() (*wire.Conn, error) {
	for _, open := range []func() (*wire.Dir, error){func() (*wire.Dir, error) { return wire.Open(false) },
		func() (*wire.Dir, error) { return wire.OpenTmp(false) }} {
		dir, err := open()
		if err != nil {
			continue
		}
		c := k.findIn(dir)
		dir.Close()
		if c != nil {
			return c, nil
		}
	}
	return nil, &hintError{withStatus(statusTarget, fmt.Errorf("no session %d of this user is running", k.session)), "gotap ctl sessions lists them"}
}

func (k *ctlClient) findIn(dir *wire.Dir) *wire.Conn {
	if c, err := dir.Connect(k.session); err == nil {
		return c
	}
	ids, _ := dir.Sessions()
	for _, s := range dir.Describe(ids) {
		if s.Supervisor == k.session {
			c, _ := dir.Connect(s.ID)
			return c
		}
	}
	return nil
}

func (k *ctlClient) sessionsVerb() *cobra.Command {
	return &cobra.Command{Use: "sessions", Aliases: []string{"list"}, Short: "List this user's sessions", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			dir, ids, err := liveSessions()
			if err != nil || dir == nil {
				return k.report(err)
			}
			defer dir.Close()
			return k.printSessions(dir.Describe(ids))
		}}
}
