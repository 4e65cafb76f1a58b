package rsp

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// StopKind is a kind of stop reply.
type StopKind uint8

// The kinds.
const (
	Stopped  StopKind = iota // by a signal, including that of a breakpoint
	Exited                   // the process has exited, with Status
	Killed                   // the process was ended by Signal
	NoThread                 // no thread runs any more
)

// Stop is the reason why a target does not run.
type Stop struct {
	Kind   StopKind
	Signal int    // as GDB numbers signals: see Signal
	Status int    // Exited
	Thread string // as the stub names it; "" if it does not report it
	Reason string // "swbreak", "hwbreak", "watch", "rwatch", "awatch", "library", "exec", …; "" for a plain signal
	Value  string // what the stub says with the reason
	Addr   uint64 // address of the data that a watchpoint saw
}

// SignalTrap and others are GDB's numbers of signals.
const (
	SignalInt  = 2
	SignalIll  = 4
	SignalTrap = 5
	SignalSegv = 11
)

// parseStop parses a stop reply.
func parseStop(reply string) (Stop, error) {
	if len(reply) < 1 {
		return Stop{}, fmt.Errorf("cannot read an empty stop reply")
	}
	if reply == "N" {
		return Stop{Kind: NoThread}, nil
	}
	if reply[0] == 'W' || reply[0] == 'X' {
		return parseEnd(reply)
	}
	if len(reply) < 3 {
		return Stop{}, fmt.Errorf("cannot read stop reply %q", reply)
	}
	n, err := number(reply[1:3])
	if err != nil {
		return Stop{}, fmt.Errorf("cannot read stop reply %.40q: %w", reply, err)
	}
	switch s := (Stop{Signal: int(n)}); reply[0] {
	case 'S':
		return s, nil
	case 'T':
		s.notes(reply[3:])
		return s, nil
	}
	return Stop{}, fmt.Errorf("cannot read stop reply %.40q", reply)
}

// parseEnd parses the stop reply of a process that has ended: its status, or the signal that ended it, in any
// number of digits, and the process if there may be several.
func parseEnd(reply string) (Stop, error) {
	digits, _, _ := strings.Cut(reply[1:], ";")
	n, err := number(digits)
	if err != nil {
		return Stop{}, fmt.Errorf("cannot read stop reply %.40q: %w", reply, err)
	}
	if reply[0] == 'W' {
		return Stop{Kind: Exited, Status: int(n)}, nil
	}
	return Stop{Kind: Killed, Signal: int(n)}, nil
}

// notes parses "NAME:VALUE;" pairs. Registers, which have numbers for names, are read when they are needed.
func (s *Stop) notes(text string) {
	for pair := range strings.SplitSeq(text, ";") {
		name, value, _ := strings.Cut(pair, ":")
		switch name {
		case "thread":
			s.Thread = value
		case "watch", "rwatch", "awatch":
			s.Reason, s.Value = name, value
			s.Addr, _ = number(value)
		case "swbreak", "hwbreak", "library", "exec", "fork", "vfork", "vforkdone", "syscall_entry", "syscall_return", "replaylog", "create":
			s.Reason, s.Value = name, value
		}
	}
}

// Why requests the reason for the present stop.
func (c *Client) Why() (Stop, error) {
	reply, err := c.Call("?")
	if err != nil {
		return Stop{}, err
	}
	return parseStop(reply)
}

// WaitStop waits until a target that was resumed has stopped; if patience is 0, it waits without limit. ok is false
// if the time has expired. output receives what the target writes on a console that the stub shows, and may be nil.
func (c *Client) WaitStop(patience time.Duration, output func(text []byte)) (s Stop, ok bool, err error) {
	var due <-chan time.Time
	if patience > 0 {
		timer := time.NewTimer(patience)
		defer timer.Stop()
		due = timer.C
	}
	for {
		select {
		case reply := <-c.answers:
			if c.aside(reply, output) {
				continue
			}
			if s, err = parseStop(string(reply)); err == nil {
				err = c.sync()
			}
			return s, err == nil, err
		case <-due:
			return Stop{}, false, nil
		case <-c.dead:
			if len(c.answers) > 0 { // packets that arrived before the end
				continue
			}
			return Stop{}, false, c.Err()
		}
	}
}

// aside handles packets that arrive while a target runs and are not stop replies.
func (c *Client) aside(reply []byte, output func([]byte)) bool {
	switch {
	case len(reply) > 0 && reply[0] == 'O' && string(reply) != "OK":
		if text, err := unhex(reply[1:]); err == nil && output != nil {
			output(text)
		}
	case len(reply) > 0 && reply[0] == 'F': // a file operation: ENOSYS, as there is no file here for it
		c.send([]byte("F-1,58"))
	default:
		return string(reply) == "OK"
	}
	return true
}

// sync finds the beginning of the next answer after an interrupt. A stub that was about to stop anyway, and waits
// for the acknowledgement of its stop reply, takes the interrupt for a lost packet and sends the reply again.
func (c *Client) sync() error {
	if !c.interrupted.Swap(false) || c.noAck.Load() {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.send([]byte("vCont?")); err != nil {
		return err
	}
	for range cap(c.answers) {
		reply, err := c.answer(c.patience)
		if err != nil {
			return err
		}
		if _, err := parseStop(string(reply)); err != nil {
			return nil // the answer to the request, whatever it is
		}
	}
	return fmt.Errorf("cannot go on after an interrupt: the stub sends nothing but stop replies")
}

// Interrupt requests a stop of a running target; WaitStop will report it, unless the stub reads nothing while its
// target runs, like that of QEMU's user emulation before version 10.
func (c *Client) Interrupt() error {
	c.interrupted.Store(true)
	c.conn.SetWriteDeadline(time.Now().Add(c.patience))
	if _, err := c.conn.Write([]byte{3}); err != nil {
		c.fail(err)
	}
	return c.Err()
}

// Action is what a thread is to do.
type Action struct {
	Step   bool
	Signal int    // to be delivered, as GDB numbers them; 0: none
	Thread string // "": all threads that no action before it names
}

// Resume resumes a target; at least one action is required. Of several actions, a stub without vCont gets only the
// first.
func (c *Client) Resume(actions ...Action) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.vCont() {
		return c.resumeClassic(actions[0])
	}
	var b strings.Builder
	b.WriteString("vCont")
	for _, a := range actions {
		b.WriteString(";" + a.word())
		if a.Thread != "" {
			b.WriteString(":" + a.Thread)
		}
	}
	return c.send([]byte(b.String()))
}

// word returns an action as written in packets.
func (a Action) word() string {
	letter := "c"
	if a.Step {
		letter = "s"
	}
	if a.Signal == 0 {
		return letter
	}
	return strings.ToUpper(letter) + fmt.Sprintf("%02x", a.Signal)
}

// resumeClassic resumes without vCont: the thread chosen by "Hc", and any others that the stub runs with it.
func (c *Client) resumeClassic(a Action) error {
	if a.Thread != "" {
		if _, err := c.callLocked([]byte("Hc" + a.Thread)); err != nil && c.Err() != nil {
			return err
		}
	}
	return c.send([]byte(a.word()))
}

// vCont reports whether the stub has vCont with the actions that are needed.
func (c *Client) vCont() bool {
	if c.resumes == "" {
		reply, err := c.callLocked([]byte("vCont?"))
		if c.resumes = string(reply); err != nil || c.resumes == "" {
			c.resumes = "none"
		}
	}
	return strings.HasPrefix(c.resumes, "vCont") && strings.Contains(c.resumes, ";c") && strings.Contains(c.resumes, ";s")
}

// signals are GDB's numbers of Linux's signals 1 to 31 (GDB's gdb/signals.def).
var signals = [...]int{0, 1, 2, 3, 4, 5, 6, 10, 8, 9, 30, 11, 31, 13, 14, 15, 0, 20, 19, 17, 18, 21, 22, 16, 24, 25, 26, 27, 28, 23, 32, 12}

// SignalOf returns GDB's number of a Linux signal, or 0 if it has none.
func SignalOf(linux int) int {
	if linux < 0 || linux >= len(signals) {
		return 0
	}
	return signals[linux]
}

// LinuxSignal returns the Linux number of a GDB signal, or 0 if it has none.
func LinuxSignal(gdb int) int {
	for linux, n := range signals {
		if n == gdb && n != 0 {
			return linux
		}
	}
	return 0
}

// ThreadNumber returns the number in a stub's name of a thread ("5cfc", "p1.5cfc"), or 0 if there is none.
func ThreadNumber(thread string) int {
	thread = thread[strings.LastIndexByte(thread, '.')+1:]
	n, err := strconv.ParseInt(thread, 16, 32)
	if err != nil || n < 0 {
		return 0
	}
	return int(n)
}
