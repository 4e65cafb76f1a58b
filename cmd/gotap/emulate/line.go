package emulate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// stateLine is one line of input, as it is written.
type stateLine struct {
	hex  string
	pc   *number
	cpsr *number
	regs []registerText
	mem  []memoryText
}

// registerText is a member of "regs": the value is a number, or a string with its quotation marks.
type registerText struct{ name, value string }

// memoryText is an entry of "mem".
type memoryText struct {
	addr, len number
	hex       string
	given     [2]bool // addr; len or hex
}

// lineReader takes a line apart. encoding/json, which finds members by reflection and reads all twice, takes five times
// as long, and that would be most of the time that a line takes. The first error ends the reading: from then on every
// method does nothing.
type lineReader struct {
	text []byte
	at   int
	err  error
}

// readLine reads a line whole.
func readLine(text []byte) (l stateLine, err error) {
	r := lineReader{text: text}
	r.members(func(name string) {
		if r.null() {
			return
		}
		switch name {
		case "hex":
			l.hex = r.quoted()
		case "pc":
			v := r.number(name)
			l.pc = &v
		case "cpsr":
			v := r.number(name)
			l.cpsr = &v
		case "regs":
			l.regs = make([]registerText, 0, 40)
			r.members(func(name string) { l.regs = append(l.regs, registerText{name, r.scalar()}) })
		case "mem":
			r.elements(func() { l.mem = append(l.mem, r.memory()) })
		default:
			r.skip()
		}
	})
	if r.next() != 0 {
		r.fail("the end of the line")
	}
	return l, r.err
}

// memory reads an entry of "mem".
func (r *lineReader) memory() (m memoryText) {
	r.members(func(name string) {
		switch name {
		case "addr":
			m.addr, m.given[0] = r.number(name), true
		case "len":
			m.len, m.given[1] = r.number(name), true
		case "hex":
			m.hex, m.given[1] = r.quoted(), true
		default:
			r.skip()
		}
	})
	if m.given != [2]bool{true, true} && r.err == nil {
		r.err = errors.New(`mem: an entry needs "addr", and "hex" or "len"`)
	}
	return m
}

// fail records what was expected at the current position.
func (r *lineReader) fail(expected string) {
	if r.err == nil {
		r.err = fmt.Errorf("column %d: expected %s", r.at+1, expected)
	}
	r.at = len(r.text)
}

// next returns the next byte that is not a space, without consuming it; 0 at the end.
func (r *lineReader) next() byte {
	for ; r.at < len(r.text); r.at++ {
		switch c := r.text[r.at]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

// null consumes a null, which means a missing member.
func (r *lineReader) null() bool {
	if r.next() != 'n' || !bytes.HasPrefix(r.text[r.at:], []byte("null")) {
		return false
	}
	r.at += len("null")
	return true
}

// take consumes the next byte if it is c.
func (r *lineReader) take(c byte) bool {
	if r.next() != c {
		return false
	}
	r.at++
	return true
}

// members reads an object; each reads the value of a member.
func (r *lineReader) members(each func(name string)) {
	r.list('{', '}', "an object", func() {
		name := r.quoted()
		if !r.take(':') {
			r.fail("a colon")
		}
		each(name)
	})
}

// elements reads an array.
func (r *lineReader) elements(each func()) { r.list('[', ']', "an array", each) }

// list reads a list in brackets, separated by commas.
func (r *lineReader) list(open, closing byte, what string, each func()) {
	if !r.take(open) {
		r.fail(what)
	}
	if r.take(closing) {
		return
	}
	for r.err == nil {
		each()
		if r.take(closing) {
			return
		}
		if !r.take(',') {
			r.fail("a comma")
		}
	}
}

// quoted reads a string.
func (r *lineReader) quoted() string {
	token := r.stringToken()
	if bytes.IndexByte(token, '\\') < 0 {
		if r.err != nil {
			return ""
		}
		return string(token[1 : len(token)-1])
	}
	var s string
	if err := json.Unmarshal(token, &s); err != nil && r.err == nil {
		r.err = err
	}
	return s
}

// stringToken reads a string, with its quotation marks; "" when there is none, which is an error.
func (r *lineReader) stringToken() []byte {
	if r.next() != '"' {
		r.fail("a string")
		return nil
	}
	start := r.at
	for r.at++; r.at < len(r.text); r.at++ {
		switch r.text[r.at] {
		case '\\':
			r.at++
		case '"':
			r.at++
			return r.text[start:r.at]
		}
	}
	r.fail("the end of a string")
	return nil
}

// scalar reads a number or a string as it is written.
func (r *lineReader) scalar() string {
	if r.next() == '"' {
		return string(r.stringToken())
	}
	start := r.at
	for r.at < len(r.text) && bytes.IndexByte([]byte("-+.eE0123456789"), r.text[r.at]) >= 0 {
		r.at++
	}
	if start == r.at {
		r.fail("a number or a string")
		return ""
	}
	return string(r.text[start:r.at])
}

// number reads an integer.
func (r *lineReader) number(name string) (n number) {
	text := r.scalar()
	if r.err != nil {
		return 0
	}
	if err := n.parse(text); err != nil {
		r.err = fmt.Errorf("%s: %w", name, err)
	}
	return n
}

// skip reads a value that is ignored.
func (r *lineReader) skip() {
	switch r.next() {
	case '{':
		r.members(func(string) { r.skip() })
	case '[':
		r.elements(r.skip)
	case '"':
		r.stringToken()
	default:
		start := r.at
		for r.at < len(r.text) && !bytes.ContainsRune([]byte(" \t\r\n,]}"), rune(r.text[r.at])) {
			r.at++
		}
		if !json.Valid(r.text[start:r.at]) {
			r.fail("a value")
		}
	}
}

// number is an integer of a line: 0…2^64-1, or negative, or the same as text, also hexadecimal.
type number uint64

// parse sets a number to what is written.
func (n *number) parse(s string) error {
	written, base := s, 10
	if len(s) > 1 && s[0] == '"' {
		s, base = s[1:len(s)-1], 0
	} else if digits := strings.TrimPrefix(s, "-"); len(digits) > 1 && digits[0] == '0' {
		return fmt.Errorf("%s begins with a zero", written)
	}
	v, err := strconv.ParseUint(s, base, 64)
	if err != nil && len(s) > 0 && s[0] == '-' {
		var signed int64
		signed, err = strconv.ParseInt(s, base, 64)
		v = uint64(signed)
	}
	if err != nil {
		return fmt.Errorf("%s is not an integer of 64 bits", written)
	}
	*n = number(v)
	return nil
}
