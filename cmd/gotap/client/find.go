package client

import (
	"errors"
	"fmt"
	"strings"

	"gotap/cmd/gotap/status"
	"gotap/cmd/gotap/wire"
)

// refusal is a session's refusal, with the status and the hint it came with.
type refusal struct{ why *wire.Error }

func (e *refusal) Error() string { return e.why.Text }
func (e *refusal) Hint() string  { return e.why.Hint }

// find connects to the chosen session, or to the only one.
func (c *Client) find() (*wire.Conn, error) {
	if c.Session != 0 {
		return c.findNumbered()
	}
	dir, ids, err := Live()
	if err != nil {
		return nil, err
	}
	if len(ids) == 0 {
		return nil, status.Hinted(status.With(status.Target, errors.New("no session of this user is running")),
			"gotap run starts one; XDG_RUNTIME_DIR, if it is set, has to be the same there and here")

	}
	defer dir.Close()
	if len(ids) == 1 {
		conn, err := dir.Connect(ids[0])
		return conn, status.With(status.Target, err)
	}
	var lines []string
	for _, s := range dir.Describe(ids) {
		lines = append(lines, "  "+sessionLine(s))
	}
	return nil, status.Hinted(status.With(status.Usage, fmt.Errorf("%d sessions are running:\n%s", len(ids), strings.Join(lines, "\n"))),
		fmt.Sprintf("--session %d chooses the first", ids[0]))

}

// Live lists the sessions of the directory that this environment names, by their numbers, ascending. The caller closes
// the directory. If the directory does not exist, dir and ids are nil.
func Live() (dir *wire.Dir, ids []int, err error) {
	dir, err = wire.Open(false)
	if wire.IsNone(err) {
		return nil, nil, nil
	}
	if err == nil {
		ids, err = dir.Sessions()
	}
	return dir, ids, status.With(status.Target, err)
}

// findNumbered connects to a session by its own number or by that of the process that the user started. The session may
// have been started without XDG_RUNTIME_DIR, so the other directory is searched too; the number is unique.
func (c *Client) findNumbered() (*wire.Conn, error) {
	for _, open := range []func() (*wire.Dir, error){func() (*wire.Dir, error) { return wire.Open(false) },
		func() (*wire.Dir, error) { return wire.OpenTmp(false) }} {
		dir, err := open()
		if err != nil {
			continue
		}
		conn := c.findIn(dir)
		dir.Close()
		if conn != nil {
			return conn, nil
		}
	}
	return nil, status.Hinted(status.With(status.Target, fmt.Errorf("no session %d of this user is running", c.Session)), "gotap ctl sessions lists them")
}

func (c *Client) findIn(dir *wire.Dir) *wire.Conn {
	if conn, err := dir.Connect(c.Session); err == nil {
		return conn
	}
	ids, _ := dir.Sessions()
	for _, s := range dir.Describe(ids) {
		if s.Supervisor == c.Session {
			conn, _ := dir.Connect(s.ID)
			return conn
		}
	}
	return nil
}
