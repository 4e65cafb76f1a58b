package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// What a session and `gotap ctl` say to each other: one JSON object a line, requests one way, a reply each the other way. Every
// object carries the version; fields that are not known are ignored, and a change that does not stand that makes a new version.

const (
	ctlVersion = 1
	maxLine    = 16 << 20 // bytes of one object
)

// A ctlRequest asks a session to do something.
type ctlRequest struct {
	Version int        `json:"v"`
	Verb    string     `json:"verb"`
	Name    string     `json:"name,omitempty"`    // enable, disable, remove: a probe; remove: a script that was inserted
	All     bool       `json:"all,omitempty"`     // remove
	Reset   bool       `json:"reset,omitempty"`   // getvars
	Replace bool       `json:"replace,omitempty"` // insert
	Merge   bool       `json:"merge,omitempty"`   // insert
	Missing string     `json:"missing,omitempty"` // insert: as --missing of run; "": as the session has it
	Script  *ctlScript `json:"script,omitempty"`  // insert
}

// A ctlScript is a script on its way to a session, whose working directory is another.
type ctlScript struct {
	Name string            `json:"name"`           // as the user knows it
	Path string            `json:"path,omitempty"` // absolute; "" when it is no file
	Dir  string            `json:"dir,omitempty"`  // where its relative imports start, absolute
	Text string            `json:"text"`
	Data []byte            `json:"data,omitempty"` // in the place of Text, which cannot carry what is no UTF-8
	Args map[string]string `json:"args,omitempty"`

	// Of definition files: -D, --group, --type, --dont-verify-opcodes, as given, and -I, absolute.
	Defs    []string `json:"define,omitempty"`
	Include []string `json:"include,omitempty"`
	Groups  string   `json:"group,omitempty"`
	Types   string   `json:"type,omitempty"`
	AnyCode bool     `json:"dont_verify_opcodes,omitempty"`
}

// A ctlReply is the answer. Exactly one of Error and the results counts.
type ctlReply struct {
	Version int         `json:"v"`
	Error   *ctlError   `json:"error,omitempty"`
	Session *ctlSession `json:"session,omitempty"`
	Probes  []ctlProbe  `json:"probes,omitempty"`
	Values  []ctlValue  `json:"values,omitempty"`
	Notes   []string    `json:"notes,omitempty"` // what was done, and warnings, a line or more each
}

// A ctlError is why a request was refused, with the exit status that this is to gotap.
type ctlError struct {
	Text   string `json:"text"`
	Hint   string `json:"hint,omitempty"`
	Status int    `json:"status"`
	Shown  bool   `json:"shown,omitempty"` // Text has the form of diagnostics: it is shown as it is
}

// A ctlSession is a session as `gotap ctl sessions` lists it.
type ctlSession struct {
	ID         int       `json:"id"`                   // the process that traces, after which the socket is named
	Supervisor int       `json:"supervisor,omitempty"` // the process that the user started
	Script     string    `json:"script"`
	Inserted   []string  `json:"inserted,omitempty"`
	Command    []string  `json:"command,omitempty"`
	Pids       []int     `json:"pids,omitempty"`
	Started    time.Time `json:"started"`
}

// ctlCodes are the numbers of a definition file's probe.
type ctlCodes struct {
	Major int `json:"major"`
	Minor int `json:"minor"`
	Group int `json:"group"`
	Type  int `json:"type"`
}

// A ctlProbe is the state of one probe: active, disabled, removed, pending (no process has the place yet); or, of one that was left
// out: missing, mismatch (another instruction is there), invalid offset, excluded.
type ctlProbe struct {
	ID       uint32         `json:"id"`
	Name     string         `json:"name"`
	Script   string         `json:"script,omitempty"` // set for scripts that were inserted
	State    string         `json:"state"`
	Hits     uint64         `json:"hits"`
	Missed   uint64         `json:"missed"`
	Places   int            `json:"places"`
	Strategy map[string]int `json:"strategy,omitempty"`
	Refused  []string       `json:"refused,omitempty"`
	Codes    *ctlCodes      `json:"codes,omitempty"`
}

// A ctlValue is a variable, aggregation or map: as the record that a run with -f json writes, and as text.
type ctlValue struct {
	Script string          `json:"script,omitempty"`
	Text   string          `json:"text"`
	Data   json.RawMessage `json:"data"`
}

// A ctlConn is one end of a connection. One goroutine reads and one writes at a time.
type ctlConn struct {
	f *os.File
	r *bufio.Reader
}

// newCtlConn takes a socket that does not block: only then deadlines work.
func newCtlConn(fd int) *ctlConn {
	f := os.NewFile(uintptr(fd), "control socket")
	return &ctlConn{f, bufio.NewReader(f)}
}

// checkPeer refuses to speak to other users. The directory keeps them out already; this holds when it has been tampered with.
func checkPeer(fd int) error {
	who, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return fmt.Errorf("cannot tell who is there: %w", err)
	}
	if int(who.Uid) != os.Geteuid() {
		return fmt.Errorf("user %d is there", who.Uid)
	}
	return nil
}

// send writes an object, within a time.
func (c *ctlConn) send(v any, within time.Duration) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	c.f.SetWriteDeadline(time.Now().Add(within))
	_, err = c.f.Write(append(line, '\n'))
	return err
}

var errLongLine = errors.New("a line is too long")

// receive reads an object, within a time for all of it. After a *badJSON the connection is as good as before.
func (c *ctlConn) receive(v any, within time.Duration) error {
	c.f.SetReadDeadline(time.Now().Add(within))
	line, err := c.line()
	if err != nil {
		return err
	}
	if err := json.Unmarshal(line, v); err != nil {
		return &badJSON{err}
	}
	return nil
}

// badJSON is a line that is no object as expected.
type badJSON struct{ error }

func (e *badJSON) Unwrap() error { return e.error }

// line reads up to the end of a line. A last line without an end is none.
func (c *ctlConn) line() ([]byte, error) {
	var line []byte
	for {
		part, err := c.r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxLine:
			return nil, errLongLine
		case err == nil:
			return line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

func (c *ctlConn) close() { c.f.Close() }

// stopReading makes a read end now, and every later one, whatever deadline is set in between.
func (c *ctlConn) stopReading() {
	if raw, err := c.f.SyscallConn(); err == nil {
		raw.Control(func(fd uintptr) { unix.Shutdown(int(fd), unix.SHUT_RD) })
	}
}
