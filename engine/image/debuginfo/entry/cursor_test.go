package entry

import "testing"

func TestCursor(t *testing.T) {
	c := Cursor{Data: []byte{0xff, 0x34, 0x12, 0xe5, 0x8e, 0x26, 0x7f, 0xfe, 0xff}}
	if v := c.Signed(1); v != -1 {
		t.Errorf("the signed byte is %d", v)
	}
	if v := c.U16(); v != 0x1234 {
		t.Errorf("the half-word is %#x", v)
	}
	if v := c.ULEB(); v != 624485 {
		t.Errorf("the ULEB128 number is %d", v)
	}
	if v := c.SLEB(); v != -1 {
		t.Errorf("the SLEB128 number is %d", v)
	}
	if v := c.Word(2); v != 0xfffe || c.More() || c.Err != nil {
		t.Errorf("the last word is %#x, %v", v, c.Err)
	}
	if v := c.U32(); v != 0 || c.Err == nil {
		t.Errorf("behind the end is %#x, %v", v, c.Err)
	}
}

// TestCursorOfEndlessNumber reads numbers whose last byte is missing.
func TestCursorOfEndlessNumber(t *testing.T) {
	for _, read := range []func(*Cursor){func(c *Cursor) { c.ULEB() }, func(c *Cursor) { c.SLEB() }} {
		c := Cursor{Data: []byte{0x80, 0x80}}
		if read(&c); c.Err == nil {
			t.Error("a number without an end is no error")
		}
	}
}
