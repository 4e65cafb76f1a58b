package syslog

import (
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"gotap/compile/diag"
	"gotap/runtime/snapshot"
	"gotap/script/output"
)

// patience is how long a datagram may take: only one that never comes takes as long.
const patience = time.Minute

// logger is a socket as a logger has it.
type logger struct {
	t    *testing.T
	conn *net.UnixConn
}

func listen(t *testing.T, path string) *logger {
	t.Helper()
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &logger{t, conn}
}

// next is the next datagram; "" when there is none.
func (l *logger) next(within time.Duration) string {
	l.conn.SetReadDeadline(time.Now().Add(within))
	buf := make([]byte, 1<<17)
	n, err := l.conn.Read(buf)
	if err != nil {
		return ""
	}
	return string(buf[:n])
}

func open(t *testing.T, path string) *Sink {
	t.Helper()
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// syslogMessage is the grammar of RFC 5424, section 6: PRI VERSION TIMESTAMP HOSTNAME APP-NAME PROCID MSGID
// STRUCTURED-DATA MSG, with the lengths and characters that it allows.
var syslogMessage = regexp.MustCompile(`^<([0-9]{1,3})>([1-9][0-9]{0,2}) ` +
	`(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,6})?(?:Z|[+-]\d{2}:\d{2})) ` +
	`([!-~]{1,255}) ([!-~]{1,48}) ([!-~]{1,128}) ([!-~]{1,32}) ` +
	`((?:\[[!-~]+(?: [!#-<>-\\^-~]{1,32}="(?:[^"\\\]]|\\["\\\]])*")*\])+) (.*)$`)

var syslogParam = regexp.MustCompile(` ([^ =\]"]{1,32})="((?:[^"\\\]]|\\["\\\]])*)"`)

// parsed is a message, taken apart by the standard's grammar.
type parsed struct {
	severity int
	id       string
	data     map[string]string
	text     string
}

func parse(t *testing.T, m string) parsed {
	t.Helper()
	f := syslogMessage.FindStringSubmatch(m)
	if f == nil || !utf8.ValidString(m) {
		t.Fatalf("not a message of RFC 5424: %q", m)
	}
	pri, _ := strconv.Atoi(f[1])
	if pri>>3 != 1 || f[2] != "1" || f[5] != "gotap" || f[6] != strconv.Itoa(os.Getpid()) {
		t.Errorf("header of %q", m)
	}
	if _, err := time.Parse(time.RFC3339Nano, f[3]); err != nil {
		t.Errorf("%v", err)
	}
	p := parsed{severity: pri & 7, id: f[7], data: map[string]string{}, text: f[9]}
	for _, g := range syslogParam.FindAllStringSubmatch(f[8], -1) {
		p.data[g[1]] = strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\]`, `]`).Replace(g[2])
	}
	if !strings.HasPrefix(f[8], "[gotap@32473 ") || p.data["v"] != strconv.Itoa(output.Version) {
		t.Errorf("structured data of %q", m)
	}
	return p
}

func TestFraming(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	l := listen(t, path)
	s := open(t, path)
	codes := &output.Codes{Major: 7, Minor: 65535, Group: 1, Type: 2}
	for _, c := range []struct {
		send         func()
		severity     int
		id, text     string
		param, value string
	}{
		{s.Ready, 5, "ready", "all probes are armed", "v", "1"},
		{func() { s.Print("a\tb\n") }, 6, "print", `a\tb`, "v", "1"},
		{func() { s.Print("two\nlines \\ \x00\x1b[m\x7f\n") }, 6, "print", `two\nlines \\ \x00\x1b[m\x7f`, "v", "1"},
		{func() { s.Print("世界 \xff\n") }, 6, "print", "世界 \ufffd", "v", "1"},
		{func() { s.Complain("bad\n") }, 4, "print", "bad", "v", "1"},
		{func() { s.Event(output.Event{Probe: `a"b]c\d` + "\n", Pid: 1, Tid: 2, Comm: "c"}) }, 6, "event", "", "probe", `a"b]c\\d\n`},
		{func() { s.Event(output.Event{Probe: "p", Text: "dprobes(7,65535)\n  row\n", Codes: codes}) }, 6, "event", `dprobes(7,65535)\n  row`, "minor", "65535"},
		{func() { s.Error(diag.Diagnostic{Text: "no place"}) }, 3, "error", "error: no place", "v", "1"},
		{func() { s.Error(diag.Diagnostic{Text: "hm", Severity: diag.Warning}) }, 4, "error", "warning: hm", "v", "1"},
		{func() { s.Lost("ring full", 1<<63) }, 4, "lost", "lost 9223372036854775808: ring full", "count", "9223372036854775808"},
		{func() { s.Aggregate(output.Aggregate{Snapshot: snapshot.Snapshot{}}) }, 6, "value", "", "v", "1"},
		{func() { s.End(output.End{Status: 3}) }, 5, "end", "the session has ended", "status", "3"},
	} {
		c.send()
		p := parse(t, l.next(patience))
		if p.severity != c.severity || p.id != c.id || c.text != "" && p.text != c.text || p.data[c.param] != c.value {
			t.Errorf("%+v, want %+v", p, c)
		}
	}
	if s.Dropped() != 0 || s.Err() != nil {
		t.Errorf("%d dropped, %v", s.Dropped(), s.Err())
	}
}

// Every text of a record comes out as one line within the grammar, whatever is in it.
func FuzzFraming(f *testing.F) {
	f.Add("probe", "text\n", uint32(1))
	f.Add("]\" \\", "\x00\xff\u2028", uint32(0))
	f.Add("", strings.Repeat("世", 5000), uint32(7))
	s := &Sink{pid: os.Getpid(), host: "-", fd: -1}
	f.Fuzz(func(t *testing.T, probe, text string, pid uint32) {
		m := string(s.message(time.Now(), severityInfo, "event", []param{{"probe", probe}, {"pid", pid}}, text))
		parse(t, m)
		if strings.ContainsFunc(m, func(r rune) bool { return r < ' ' || r == 0x7f }) || len(m) > 4*(len(probe)+maxText)+500 {
			t.Errorf("%d bytes: %q", len(m), m)
		}
	})
}

func TestLongText(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	l := listen(t, path)
	s := open(t, path)
	s.Print(strings.Repeat("x", maxText) + "\n")
	s.Print(strings.Repeat("x", maxText+1) + "\n")
	s.Print(strings.Repeat("世", maxText))
	for i, want := range []string{strings.Repeat("x", maxText), strings.Repeat("x", maxText) + "...", ""} {
		if p := parse(t, l.next(patience)); want != "" && p.text != want {
			t.Errorf("%d: %d bytes, the last are %q", i, len(p.text), p.text[len(p.text)-5:])
		} else if want == "" && !strings.HasSuffix(p.text, "...") {
			t.Errorf("%d: not marked as cut", i)
		}
	}
}

// A logger that does not read keeps nobody waiting: what does not fit is dropped, and all of it counted.
func TestFullSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	l := listen(t, path)
	s := open(t, path)
	const sent = 5000
	done := make(chan bool)
	go func() {
		defer close(done)
		for range sent {
			s.Print("x\n")
		}
	}()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatal("a full socket keeps the writer waiting")
	}
	got := uint64(0)
	for s.Dropped() < sent && got < sent-s.Dropped() && l.next(patience) != "" { // one more would be taken for the later one below
		got++
	}
	if s.Dropped() == 0 || got == 0 || got+s.Dropped() != sent {
		t.Errorf("%d of %d came and %d were dropped", got, sent, s.Dropped())
	}
	s.Print("later\n")
	if p := parse(t, l.next(patience)); p.text != "later" {
		t.Errorf("once there is room: %+v", p)
	}
}

// A logger that goes away is loss; one that takes its place is found without being asked.
func TestVanishedSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	l := listen(t, path)
	s := open(t, path)
	l.conn.Close()
	os.Remove(path)
	for range 3 {
		s.Print("lost\n")
	}
	if s.Dropped() != 3 || s.Err() != nil {
		t.Errorf("%d dropped, %v", s.Dropped(), s.Err())
	}
	l = listen(t, path)
	s.Print("found\n")
	if p := parse(t, l.next(patience)); p.text != "found" || s.Dropped() != 3 {
		t.Errorf("%+v, %d dropped", p, s.Dropped())
	}
	s.Close()
	s.Print("after the end\n")
	if l.next(50*time.Millisecond) != "" || s.Dropped() != 4 {
		t.Errorf("a closed sink writes, or does not count: %d dropped", s.Dropped())
	}
}

func TestNoSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "nowhere")
	if _, err := Open(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("%v", err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); err == nil {
		t.Error("a file is no socket")
	}
}

func TestPrintable(t *testing.T) {
	if got := printable("a b\u00fc" + strings.Repeat("x", 300)); len(got) != 255 || !strings.HasPrefix(got, "a_b_x") {
		t.Errorf("%q", got)
	}
}
