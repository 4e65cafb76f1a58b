package rsp

import (
	"encoding/hex"
	"errors"
	"fmt"
)

// ReadRegisters reads the registers of the chosen thread that one packet holds, in the layout of the description.
// Registers that the stub does not know are zero.
func (c *Client) ReadRegisters() ([]byte, error) {
	reply, err := c.call([]byte("g"))
	if err != nil {
		return nil, err
	}
	for i, b := range reply {
		if b == 'x' {
			reply[i] = '0'
		}
	}
	return unhex(reply)
}

// WriteRegisters sets all registers of that packet.
func (c *Client) WriteRegisters(data []byte) error {
	_, err := c.Call("G" + hex.EncodeToString(data))
	return err
}

// ReadRegister reads one register.
func (c *Client) ReadRegister(r Register) ([]byte, error) {
	reply, err := c.call(fmt.Appendf(nil, "p%x", r.Number))
	if err != nil {
		return nil, err
	}
	data, err := unhex(reply)
	if err == nil && len(data) != r.Bytes() {
		err = fmt.Errorf("cannot read register %s: the stub sends %d bytes for its %d", r.Name, len(data), r.Bytes())
	}
	return data, err
}

// WriteRegister sets one register. If the stub has no such request, it returns ErrUnsupported, and WriteRegisters
// must be used.
func (c *Client) WriteRegister(r Register, data []byte) error {
	if c.noWrite {
		return ErrUnsupported
	}
	_, err := c.Call(fmt.Sprintf("P%x=%s", r.Number, hex.EncodeToString(data)))
	c.noWrite = errors.Is(err, ErrUnsupported)
	return err
}
