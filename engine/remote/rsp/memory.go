package rsp

import (
	"encoding/hex"
	"errors"
	"fmt"
)

// ReadMemory reads memory into p and returns how many bytes could be read from its start.
func (c *Client) ReadMemory(addr uint64, p []byte) (int, error) {
	chunk := (c.size - 8) / 2
	n := 0
	for n < len(p) {
		want := min(chunk, len(p)-n)
		reply, err := c.call(fmt.Appendf(nil, "m%x,%x", addr+uint64(n), want))
		if err != nil {
			return n, err
		}
		data, err := unhex(reply)
		if err != nil {
			return n, err
		}
		n += copy(p[n:n+want], data)
		if len(data) < want {
			return n, fmt.Errorf("cannot read memory at %#x", addr+uint64(n))
		}
	}
	return n, nil
}

// WriteMemory writes all of p or returns an error, in which case part of p may have been written.
func (c *Client) WriteMemory(addr uint64, p []byte) error {
	chunk := (c.size - 40) / 2 // binary data may double by escapes, and hexadecimal ones always do
	for len(p) > 0 {
		n := min(chunk, len(p))
		if err := c.write(addr, p[:n]); err != nil {
			return err
		}
		addr, p = addr+uint64(n), p[n:]
	}
	return nil
}

// write writes one piece, as binary data if the stub accepts that.
func (c *Client) write(addr uint64, p []byte) error {
	if !c.noBinary {
		_, err := c.call(append(fmt.Appendf(nil, "X%x,%x:", addr, len(p)), escape(p)...))
		if !errors.Is(err, ErrUnsupported) {
			return err
		}
		c.noBinary = true
	}
	_, err := c.call(fmt.Appendf(nil, "M%x,%x:%s", addr, len(p), hex.EncodeToString(p)))
	return err
}

// Trap is a kind of breakpoint, by its number in the packets Z and z.
type Trap uint8

// The kinds.
const (
	Software    Trap = 0
	Hardware    Trap = 1
	WatchWrite  Trap = 2
	WatchRead   Trap = 3
	WatchAccess Trap = 4
)

// Insert makes the stub set a breakpoint or watchpoint. For breakpoints kind is the length of the instruction, but
// 3 for a long Thumb instruction; for watchpoints it is the length of the data.
func (c *Client) Insert(t Trap, addr uint64, kind int) error {
	_, err := c.Call(fmt.Sprintf("Z%d,%x,%x", t, addr, kind))
	return err
}

// Remove undoes Insert.
func (c *Client) Remove(t Trap, addr uint64, kind int) error {
	_, err := c.Call(fmt.Sprintf("z%d,%x,%x", t, addr, kind))
	return err
}
