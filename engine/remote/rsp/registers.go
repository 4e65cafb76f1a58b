package rsp

import (
	"encoding/hex"
	"errors"
	"fmt"
)

// ReadRegisters asks for the registers of the chosen thread that one packet holds, as the description lays them out. What the stub does not
// know is zero.
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

// WriteRegisters sets them all.
func (c *Client) WriteRegisters(data []byte) error {
	_, err := c.Call("G" + hex.EncodeToString(data))
	return err
}

// ReadRegister asks for one register.
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

// WriteRegister sets one register. Stubs may have no such request: ErrUnsupported, and WriteRegisters is what is left.
func (c *Client) WriteRegister(r Register, data []byte) error {
	if c.noWrite {
		return ErrUnsupported
	}
	_, err := c.Call(fmt.Sprintf("P%x=%s", r.Number, hex.EncodeToString(data)))
	c.noWrite = errors.Is(err, ErrUnsupported)
	return err
}
