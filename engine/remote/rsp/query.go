package rsp

import (
	"errors"
	"fmt"
	"strings"
)

// maxObject is the maximum size that is read of one of the stub's objects.
const maxObject = 16 << 20

// Transfer reads an object of the stub: "features", "auxv", "exec-file", "libraries-svr4", … A stub that does not have
// it gives ErrUnsupported.
func (c *Client) Transfer(object, annex string) ([]byte, error) {
	var all []byte
	for len(all) < maxObject {
		reply, err := c.call(fmt.Appendf(nil, "qXfer:%s:read:%s:%x,%x", object, annex, len(all), c.size-4))
		if err != nil {
			return nil, err
		}
		data := unescape(reply[1:])
		all = append(all, data...)
		switch {
		case reply[0] == 'l':
			return all, nil
		case reply[0] != 'm' || len(data) == 0:
			return nil, fmt.Errorf("cannot read %s of the stub: it answers %.20q", object, reply)
		}
	}
	return nil, fmt.Errorf("cannot read %s of the stub: it has more than %d bytes", object, maxObject)
}

// Threads returns the threads of the target: processes' threads, or processors.
func (c *Client) Threads() ([]string, error) {
	var all []string
	reply, err := c.Call("qfThreadInfo")
	for ; err == nil && strings.HasPrefix(reply, "m") && len(all) < 1<<16; reply, err = c.Call("qsThreadInfo") {
		all = append(all, strings.Split(reply[1:], ",")...)
	}
	return all, err
}

// Current returns the thread that the stub considers the present one, or "" if the stub does not report it.
func (c *Client) Current() string {
	reply, err := c.Call("qC")
	if thread, ok := strings.CutPrefix(reply, "QC"); ok && err == nil {
		return thread
	}
	return ""
}

// Offset returns what the loader added to the addresses of the program's code; ok is false if the stub does not
// report it.
func (c *Client) Offset() (text uint64, ok bool) {
	reply, err := c.Call("qOffsets")
	if err != nil {
		return 0, false
	}
	for pair := range strings.SplitSeq(reply, ";") {
		if value, found := strings.CutPrefix(pair, "Text="); found {
			text, err = number(value)
			return text, err == nil
		}
	}
	return 0, false
}

// Choose selects the thread whose registers and memory are accessed from now on.
func (c *Client) Choose(thread string) error {
	if thread == "" || thread == c.thread {
		return nil
	}
	_, err := c.Call("Hg" + thread)
	if err == nil || errors.Is(err, ErrUnsupported) { // a stub with one thread may not know the request
		c.thread = thread
		return nil
	}
	return fmt.Errorf("cannot choose thread %s: %w", thread, err)
}

// Detach detaches from the target, which keeps running, and ends the connection. thread is any thread of it, as the
// stub names it, or "".
func (c *Client) Detach(thread string) error {
	err := c.DetachProcess(thread)
	c.Close()
	return err
}

// DetachProcess detaches from the process of a thread, which keeps running. Stubs that know only one process do not
// name it.
func (c *Client) DetachProcess(thread string) error {
	command := "D"
	if process, ok := processOf(thread); ok {
		command += ";" + process
	}
	_, err := c.Call(command)
	return err
}

// processOf returns the process in a stub's name of a thread ("p5cfc.5cfd"); ok is false if it names none.
func processOf(thread string) (process string, ok bool) {
	if process, _, ok = strings.Cut(thread, "."); !ok {
		return "", false
	}
	return strings.CutPrefix(process, "p")
}

// CatchAllSyscalls is CatchSyscalls for all numbers, also of calls whose number the kernel does not know at their end.
func (c *Client) CatchAllSyscalls() error {
	_, err := c.Call("QCatchSyscalls:1")
	return err
}

// CatchSyscalls makes the stub stop the process of a thread at the entries and the ends of the system calls with
// these numbers, and at no others; without numbers, at none. A stub that can do it has the feature
// "QCatchSyscalls".
func (c *Client) CatchSyscalls(numbers []int) error {
	if len(numbers) == 0 {
		_, err := c.Call("QCatchSyscalls:0")
		return err
	}
	var b strings.Builder
	b.WriteString("QCatchSyscalls:1")
	for _, n := range numbers {
		fmt.Fprintf(&b, ";%x", n)
	}
	_, err := c.Call(b.String())
	return err
}
