package syslog

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"gotap/compile/diag"
	"gotap/script/output"
)

// DefaultSocket is where loggers of Linux listen.
const DefaultSocket = "/dev/log"

// maxText is how much of a record's text a message carries.
const maxText = 8192

// Severities of RFC 5424, section 6.2.1.
const (
	severityError   = 3
	severityWarning = 4
	severityNotice  = 5
	severityInfo    = 6
	facilityUser    = 1
)

// Sink is a connection to a logger; it implements output.Sink.
type Sink struct {
	path, host string
	pid        int

	mu      sync.Mutex // guards what follows
	fd      int        // -1: not connected
	dropped uint64
}

// Open connects to the socket of a logger.
func Open(path string) (*Sink, error) {
	s := &Sink{path: path, pid: os.Getpid(), host: "-", fd: -1}
	if name, err := os.Hostname(); err == nil && name != "" {
		s.host = printable(name)
	}
	if err := s.connect(); err != nil {
		return nil, fmt.Errorf("cannot log to the socket %s: %w", path, err)
	}
	return s, nil
}

// connect opens the socket. The lock is held, or no other goroutine has the sink yet.
func (s *Sink) connect() error {
	s.disconnect()
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	if err := unix.Connect(fd, &unix.SockaddrUnix{Name: s.path}); err != nil {
		unix.Close(fd)
		return err
	}
	s.fd = fd
	return nil
}

func (s *Sink) disconnect() {
	if s.fd >= 0 {
		unix.Close(s.fd)
		s.fd = -1
	}
}

// Close ends the connection; what comes afterwards is dropped.
func (s *Sink) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.disconnect()
	s.path = ""
}

// Dropped counts the messages that the socket did not take.
func (s *Sink) Dropped() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dropped
}

// send writes one message. It does not retry when the socket is full (EAGAIN), and reconnects when the reader has gone.
func (s *Sink) send(severity int, id string, data []param, text string) {
	m := s.message(time.Now(), severity, id, data, text)
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.write(m)
	if err == unix.ECONNREFUSED || err == unix.ENOTCONN || err == unix.ECONNRESET || err == unix.EBADF {
		if err = s.connect(); err == nil {
			err = s.write(m)
		}
	}
	if err != nil {
		s.dropped++
	}
}

func (s *Sink) write(m []byte) error {
	if s.fd < 0 {
		return unix.EBADF
	}
	_, err := unix.Write(s.fd, m)
	return err
}

// param is one parameter of the structured data.
type param struct {
	name  string
	value any
}

// message returns a record as RFC 5424, section 6 has it.
func (s *Sink) message(at time.Time, severity int, id string, data []param, text string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "<%d>1 %s %s gotap %d %s [gotap@32473 v=\"%d\"", facilityUser*8+severity,
		at.UTC().Format("2006-01-02T15:04:05.000000Z"), s.host, s.pid, id, output.Version)
	for _, p := range data {
		fmt.Fprintf(&b, " %s=\"%s\"", p.name, paramEscaper.Replace(line(fmt.Sprint(p.value))))
	}
	b.WriteString("] ")
	b.WriteString(line(strings.TrimSuffix(text, "\n")))
	return []byte(b.String())
}

// paramEscaper escapes values as section 6.3.3 requires, the backslashes of line included.
var paramEscaper = strings.NewReplacer(`\`, `\\`, `"`, `\"`, `]`, `\]`)

// line returns a text without control characters, cut when it is too long.
func line(text string) string {
	cut := len(text) > maxText
	if cut {
		text = text[:maxText]
	}
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(text, "\ufffd") {
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\\':
			b.WriteString(`\\`)
		case diag.IsControl(r):
			b.WriteString(diag.Escape(string(r)))
		default:
			b.WriteRune(r)
		}
	}
	if cut {
		b.WriteString("...")
	}
	return b.String()
}

// printable returns a host's name as the header can hold it: 33 to 126, at most 255 characters.
func printable(name string) string {
	name = strings.Map(func(r rune) rune {
		if r <= ' ' || r >= 0x7f || r == utf8.RuneError {
			return '_'
		}
		return r
	}, name)
	return name[:min(len(name), 255)]
}

// Print implements output.Sink.
func (s *Sink) Print(text string) { s.send(severityInfo, "print", nil, text) }

// Complain implements output.Sink.
func (s *Sink) Complain(text string) { s.send(severityWarning, "print", nil, text) }

// Event implements output.Sink.
func (s *Sink) Event(e output.Event) {
	if e.Hidden {
		return
	}
	data := []param{{"probe", e.Probe}, {"pid", e.Pid}, {"tid", e.Tid}, {"comm", e.Comm}}
	if c := e.Codes; c != nil {
		data = append(data, param{"major", c.Major}, param{"minor", c.Minor}, param{"group", c.Group}, param{"type", c.Type})
	}
	text := e.Text
	if text == "" {
		text = e.Line()
	}
	s.send(severityInfo, "event", data, text)
}

// Table implements output.Sink.
func (s *Sink) Table(t output.Table) { s.send(severityInfo, "table", nil, t.Text) }

// Aggregate implements output.Sink.
func (s *Sink) Aggregate(a output.Aggregate) {
	var b strings.Builder
	a.Snapshot.Print(&b, a.Options) // a builder takes everything
	s.send(severityInfo, "value", nil, b.String())
}

// Error implements output.Sink.
func (s *Sink) Error(d diag.Diagnostic) {
	severity := severityError
	if d.Severity == diag.Warning {
		severity = severityWarning
	}
	s.send(severity, "error", nil, d.String())
}

// Lost implements output.Sink.
func (s *Sink) Lost(cause string, n uint64) {
	s.send(severityWarning, "lost", []param{{"count", n}}, fmt.Sprintf("lost %d: %s", n, cause))
}

// Ready implements output.Sink.
func (s *Sink) Ready() { s.send(severityNotice, "ready", nil, "all probes are armed") }

// Clear implements output.Sink: messages cannot be taken back.
func (s *Sink) Clear() {}

// End implements output.Sink.
func (s *Sink) End(e output.End) {
	s.send(severityNotice, "end", []param{{"status", e.Status}}, "the session has ended")
}

// Flush implements output.Sink: nothing is kept back.
func (s *Sink) Flush() {}

// Err implements output.Sink: loss is counted, it does not end the run.
func (s *Sink) Err() error { return nil }
