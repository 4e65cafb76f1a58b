// Package wire is the protocol between a session and gotap ctl, and the sockets that they use. Each line is a JSON
// object; every request gets one reply. Every object carries the version. Unknown fields are ignored; a change that
// needs more than that makes a new version.
//
// A Dir and a Conn belong to one goroutine each. But one goroutine may read a connection while another writes it, and
// any may call StopReading. A Server has goroutines of its own; its methods are safe for concurrent use.
package wire

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

const (
	Version = 1        // of the protocol
	MaxLine = 16 << 20 // bytes of one object
)

// A Request asks a session to do something.
type Request struct {
	Version int     `json:"v"`
	Verb    string  `json:"verb"`
	Name    string  `json:"name,omitempty"`    // enable, disable, remove: a probe; remove: a script that was inserted; getvars: a variable or a script; set: a variable
	Value   string  `json:"value,omitempty"`   // set: the value of the variable Name
	All     bool    `json:"all,omitempty"`     // enable, disable, remove
	Reset   bool    `json:"reset,omitempty"`   // getvars
	Index   *Range  `json:"index,omitempty"`   // getvars: elements by their first index; nil: all
	Replace bool    `json:"replace,omitempty"` // insert
	Merge   bool    `json:"merge,omitempty"`   // insert
	Missing string  `json:"missing,omitempty"` // insert: as --missing of run; "": as the session has it
	Script  *Script `json:"script,omitempty"`  // insert
}

// CheckInsert refuses a request to insert a script whose options exclude each other or are unknown.
func (q Request) CheckInsert() error {
	if q.Replace && q.Merge {
		return errors.New("--replace and --merge exclude each other")
	}
	switch q.Missing {
	case "", "error", "warn", "ignore":
		return nil
	}
	return fmt.Errorf("--missing is error, warn or ignore, not %q", q.Missing)
}

// A Range is of whole numbers, both ends included.
type Range struct {
	First int64 `json:"first"`
	Last  int64 `json:"last"`
}

// A Script is a script on its way to a session, whose working directory is another.
type Script struct {
	Name string            `json:"name"`           // as the user knows it
	Path string            `json:"path,omitempty"` // absolute; "" when it is not a file
	Dir  string            `json:"dir,omitempty"`  // where its relative imports start, absolute
	Text string            `json:"text"`
	Data []byte            `json:"data,omitempty"` // instead of Text, when it is not UTF-8
	Args map[string]string `json:"args,omitempty"`

	// Of definition files: -D, --group, --type, --dont-verify-opcodes, as given, and -I, absolute.
	Defs    []string `json:"define,omitempty"`
	Include []string `json:"include,omitempty"`
	Groups  string   `json:"group,omitempty"`
	Types   string   `json:"type,omitempty"`
	AnyCode bool     `json:"dont_verify_opcodes,omitempty"`
}

// A Reply is the answer. Exactly one of Error and the results counts.
type Reply struct {
	Version int      `json:"v"`
	Error   *Error   `json:"error,omitempty"`
	Session *Session `json:"session,omitempty"`
	Probes  []Probe  `json:"probes,omitempty"`
	Values  []Value  `json:"values,omitempty"`
	Notes   []string `json:"notes,omitempty"` // what was done, and warnings, a line or more each
}

// A Error is why a request was refused, with the exit status that this is to gotap.
type Error struct {
	Text   string `json:"text"`
	Hint   string `json:"hint,omitempty"`
	Status int    `json:"status"`
	Shown  bool   `json:"shown,omitempty"` // Text has the form of diagnostics: it is shown as it is
}

// A Session is a session as `gotap ctl sessions` lists it.
type Session struct {
	ID         int       `json:"id"`                   // the process that traces, after which the socket is named
	Supervisor int       `json:"supervisor,omitempty"` // the process that the user started
	Script     string    `json:"script"`
	Inserted   []string  `json:"inserted,omitempty"`
	Command    []string  `json:"command,omitempty"`
	Pids       []int     `json:"pids,omitempty"`
	Started    time.Time `json:"started"`
}

// Codes are the numbers of a definition file's probe.
type Codes struct {
	Major int `json:"major"`
	Minor int `json:"minor"`
	Group int `json:"group"`
	Type  int `json:"type"`
}

// A Probe is the state of one probe: active, disabled, removed, pending (no process has the place yet); or, of one that
// was left out: missing, mismatch (another instruction is there), invalid offset, excluded.
type Probe struct {
	ID       uint32         `json:"id"`
	Name     string         `json:"name"`
	Script   string         `json:"script,omitempty"` // set for scripts that were inserted
	State    string         `json:"state"`
	Hits     uint64         `json:"hits"`
	Missed   uint64         `json:"missed"`
	Places   int            `json:"places"`
	Strategy map[string]int `json:"strategy,omitempty"`
	Refused  []string       `json:"refused,omitempty"`
	Codes    *Codes         `json:"codes,omitempty"`
	Kind     string         `json:"kind,omitempty"`  // function, address, line, mark, watchpoint, syscall, sample
	Sites    []Site         `json:"sites,omitempty"` // the first of its places of code
}

// A Site is a place of a probe.
type Site struct {
	Place   string `json:"place"`
	Address string `json:"address"` // in the file, hexadecimal
}

// A Value is a variable, aggregation or map: as the record that a run with -f json writes, and as text.
type Value struct {
	Script string          `json:"script,omitempty"`
	Text   string          `json:"text"`
	Data   json.RawMessage `json:"data"`
}

// A Conn is one end of a connection. One goroutine reads and one writes at a time.
type Conn struct {
	f *os.File
	r *bufio.Reader
}

// NewConn takes a socket that does not block: only then deadlines work.
func NewConn(fd int) *Conn {
	f := os.NewFile(uintptr(fd), "control socket")
	return &Conn{f, bufio.NewReader(f)}
}

// CheckPeer refuses to speak to other users. The directory keeps them out already; this holds when it has been tampered
// with.
func CheckPeer(fd int) error {
	who, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return fmt.Errorf("cannot tell who is there: %w", err)
	}
	if int(who.Uid) != os.Geteuid() {
		return fmt.Errorf("user %d is there", who.Uid)
	}
	return nil
}

// Send writes an object, within a time.
func (c *Conn) Send(v any, within time.Duration) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	c.f.SetWriteDeadline(time.Now().Add(within))
	_, err = c.f.Write(append(line, '\n'))
	return err
}

// ErrLongLine is a line of more than MaxLine bytes: nothing that comes after it can be understood.
var ErrLongLine = errors.New("a line is too long")

// Receive reads an object, within a time for all of it. After a *BadJSON the connection is as good as before.
func (c *Conn) Receive(v any, within time.Duration) error {
	c.f.SetReadDeadline(time.Now().Add(within))
	line, err := c.line()
	if err != nil {
		return err
	}
	if err := json.Unmarshal(line, v); err != nil {
		return &BadJSON{err}
	}
	return nil
}

// BadJSON reports a line that is not the expected object.
type BadJSON struct{ error }

func (e *BadJSON) Unwrap() error { return e.error }

// line reads up to the end of a line. A last line without an end is none.
func (c *Conn) line() ([]byte, error) {
	var line []byte
	for {
		part, err := c.r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > MaxLine:
			return nil, ErrLongLine
		case err == nil:
			return line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// Close hangs up.
func (c *Conn) Close() { c.f.Close() }

// StopReading ends the current read and every later one, whatever deadline is set in between. A write may take the
// given time.
func (c *Conn) StopReading(left time.Duration) {
	c.f.SetWriteDeadline(time.Now().Add(left))
	if raw, err := c.f.SyscallConn(); err == nil {
		raw.Control(func(fd uintptr) { unix.Shutdown(int(fd), unix.SHUT_RD) })
	}
}
