package rsp

import (
	"bufio"
	"errors"
	"net"
	"strings"
	"testing"
	"time"
)

// patience is how long the tests' clients wait for an answer.
const patience = time.Minute

// stub answers on one end of a pipe: what answer returns for a command goes out as a packet, whole texts that begin
// with "\x00" as they are. It acknowledges by "+" until it has been asked not to.
func stub(t *testing.T, answer func(command string) string) net.Conn {
	ours, theirs := net.Pipe()
	t.Cleanup(func() { ours.Close() })
	out := make(chan []byte, 64)
	go func() {
		for p := range out {
			ours.Write(p)
		}
	}()
	go func() {
		defer close(out)
		s := scanner{in: bufio.NewReader(ours)}
		for {
			command, _, err := s.next()
			if err != nil {
				return
			}
			if s.nack {
				s.nack = false
				out <- encode([]byte("OK"))
				continue
			}
			reply := answer(string(command))
			if raw, ok := strings.CutPrefix(reply, "\x00"); ok {
				out <- []byte(raw)
			} else {
				out <- append([]byte("+"), encode([]byte(reply))...)
			}
		}
	}()
	return theirs
}

func TestGreeting(t *testing.T) {
	c, err := New(stub(t, func(command string) string {
		switch {
		case strings.HasPrefix(command, "qSupported"):
			return "PacketSize=100;QStartNoAckMode+;vContSupported+;multiprocess-"
		case command == "QStartNoAckMode":
			return "OK"
		case strings.HasPrefix(command, "m"):
			return "aabb"
		}
		return ""
	}), "test", patience)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if !c.noAck.Load() || c.size != 256 || !c.Has("vContSupported") || c.Has("multiprocess") {
		t.Errorf("size %d, features %v", c.size, c.features)
	}
	p := make([]byte, 2)
	if n, err := c.ReadMemory(0x1000, p); n != 2 || err != nil || p[0] != 0xaa {
		t.Errorf("read %d bytes %x: %v", n, p, err)
	}
	if err := c.Insert(Software, 0x1000, 4); !errors.Is(err, ErrUnsupported) {
		t.Errorf("a breakpoint that the stub does not know: %v", err)
	}
	if err := c.Err(); err != nil {
		t.Errorf("a refusal ended the connection: %v", err)
	}
}

// TestStrangers: what is no stub is told from one, in time.
func TestStrangers(t *testing.T) {
	for name, c := range map[string]struct {
		reply string
		wait  time.Duration
	}{
		"silence": {"\x00", 200 * time.Millisecond},
		"HTTP":    {"\x00HTTP/1.1 400 Bad Request\r\n\r\n", 5 * time.Second}, // it has to be heard
	} {
		_, err := New(stub(t, func(string) string { return c.reply }), "host:1", c.wait)
		var stranger *NotStubError
		if !errors.As(err, &stranger) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if name == "HTTP" && !strings.Contains(err.Error(), "HTTP/1.1") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestFlood: a peer that says more than it was asked does not keep what reads it for ever.
func TestFlood(t *testing.T) {
	refusals := strings.Repeat("$E01#a6", 64)
	_, err := New(stub(t, func(string) string { return "\x00+" + refusals }), "test", patience)
	var stranger *NotStubError
	if !errors.As(err, &stranger) {
		t.Errorf("the error is %v", err)
	}
}

// TestLoss: a stub that goes away, and one that stops answering, end the connection with a reason.
func TestLoss(t *testing.T) {
	for _, silent := range []bool{false, true} {
		ours := make(chan net.Conn, 1)
		conn := stub(t, func(command string) string {
			switch {
			case strings.HasPrefix(command, "qSupported"):
				return ""
			case !silent:
				(<-ours).Close()
			}
			return "\x00"
		})
		ours <- conn
		c, err := New(conn, "test", patience)
		if err != nil {
			t.Fatal(err)
		}
		if silent {
			c.patience = 300 * time.Millisecond
		}
		if _, err := c.ReadRegisters(); !errors.Is(err, ErrGone) {
			t.Errorf("silent %v: %v", silent, err)
		}
		if _, _, err := c.WaitStop(0, nil); !errors.Is(err, ErrGone) {
			t.Errorf("silent %v: waiting: %v", silent, err)
		}
	}
}

// TestDamagedAnswer: a damaged packet is asked for again.
func TestDamagedAnswer(t *testing.T) {
	c, err := New(stub(t, func(command string) string {
		if strings.HasPrefix(command, "qSupported") {
			return ""
		}
		return "\x00+$OK#00"
	}), "test", patience)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if reply, err := c.Call("D"); reply != "OK" || err != nil {
		t.Errorf("%q, %v", reply, err)
	}
}

func TestStops(t *testing.T) {
	for reply, want := range map[string]Stop{
		"S05":                                  {Signal: 5},
		"T05thread:5cfc;swbreak:;":             {Signal: 5, Thread: "5cfc", Reason: "swbreak"},
		"T0506:00000000;thread:p1.2;core:0;":   {Signal: 5, Thread: "p1.2"},
		"T05watch:ffffffff81000000;thread:01;": {Signal: 5, Thread: "01", Reason: "watch", Value: "ffffffff81000000", Addr: 0xffffffff81000000},
		"W8;process:6e1b":                      {Kind: Exited, Status: 8},
		"W03":                                  {Kind: Exited, Status: 3},
		"X0b;process:1":                        {Kind: Killed, Signal: 11},
		"N":                                    {Kind: NoThread},
	} {
		if got, err := parseStop(reply); got != want || err != nil {
			t.Errorf("%s: %+v, %v", reply, got, err)
		}
	}
	for _, reply := range []string{"", "T", "T0", "Txx", "OK", "Q05", "PacketSize=1000", "NonStop+"} {
		if got, err := parseStop(reply); err == nil {
			t.Errorf("%q was read as %+v", reply, got)
		}
	}
}

func TestSignals(t *testing.T) {
	for linux := 1; linux < 32; linux++ {
		if gdb := SignalOf(linux); gdb != 0 && LinuxSignal(gdb) != linux {
			t.Errorf("signal %d is %d for GDB, which is %d", linux, gdb, LinuxSignal(gdb))
		}
	}
	if SignalOf(10) != 30 || SignalOf(17) != 20 { // SIGUSR1, SIGCHLD
		t.Error("GDB numbers SIGUSR1 30 and SIGCHLD 20")
	}
}

func TestThreadNumbers(t *testing.T) {
	for name, want := range map[string]int{"5cfc": 0x5cfc, "p1.2": 2, "01": 1, "": 0, "-1": 0, "p1.-1": 0} {
		if got := ThreadNumber(name); got != want {
			t.Errorf("%q is thread %d, not %d", name, got, want)
		}
	}
}
