package rsp

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxPacket is the maximum length of a packet from a stub, in bytes: more than any stub's buffer, and small enough
// that a peer that is not a stub cannot fill the memory.
const maxPacket = 1 << 20

// errChecksum means that a packet was damaged in transit. The sender is asked for it again.
var errChecksum = errors.New("a packet has a wrong checksum")

// encode makes a packet of a payload, whose special bytes have been escaped already.
func encode(payload []byte) []byte {
	p := make([]byte, 0, len(payload)+4)
	p = append(append(p, '$'), payload...)
	return fmt.Appendf(p, "#%02x", sum(payload))
}

// sum is the checksum of a payload: its bytes added up.
func sum(payload []byte) (n byte) {
	for _, b := range payload {
		n += b
	}
	return n
}

// escape encodes binary data for a payload: each byte that has a meaning in the protocol is sent as "}" and the
// byte with bit 5 changed.
func escape(data []byte) []byte {
	out := make([]byte, 0, len(data)+8)
	for _, b := range data {
		if b == '#' || b == '$' || b == '}' || b == '*' {
			out = append(out, '}', b^0x20)
		} else {
			out = append(out, b)
		}
	}
	return out
}

// unescape undoes escape. A "}" at the very end stands for nothing.
func unescape(data []byte) []byte {
	out := make([]byte, 0, len(data))
	for i := 0; i < len(data); i++ {
		if data[i] != '}' {
			out = append(out, data[i])
		} else if i++; i < len(data) {
			out = append(out, data[i]^0x20)
		}
	}
	return out
}

// expand undoes the run-length encoding: "*" and a character n repeat the character before it n-29 times. Escapes
// are left unchanged.
func expand(data []byte) ([]byte, error) {
	out := make([]byte, 0, len(data))
	for i := 0; i < len(data); i++ {
		if data[i] != '*' {
			out = append(out, data[i])
			continue
		}
		i++
		if i >= len(data) || len(out) == 0 || data[i] < 29+3 || data[i] > 126 {
			return nil, errors.New("a packet repeats nothing")
		}
		for n := int(data[i]) - 29; n > 0; n-- {
			out = append(out, out[len(out)-1])
		}
		if len(out) > maxPacket {
			return nil, fmt.Errorf("a packet has more than %d bytes", maxPacket)
		}
	}
	return out, nil
}

// scanner extracts packets from a stream.
type scanner struct {
	in      *bufio.Reader
	garbage []byte // the first bytes that are not part of a packet
	nack    bool   // the other end asks for our last packet again
}

// next returns the payload of the next packet, with repetitions expanded. notice is set for a notification and not
// for an answer. errChecksum means that the packet may be requested again; all other errors are final.
func (s *scanner) next() (payload []byte, notice bool, err error) {
	for {
		b, err := s.in.ReadByte()
		switch {
		case err != nil:
			return nil, false, err
		case b == '$' || b == '%':
			payload, err = s.body()
			return payload, b == '%', err
		case b == '-':
			s.nack = true
			return nil, false, nil
		case b != '+' && len(s.garbage) < 32:
			s.garbage = append(s.garbage, b)
		}
	}
}

// body reads from behind the first byte of a packet to its end.
func (s *scanner) body() ([]byte, error) {
	var raw []byte
	for {
		b, err := s.in.ReadByte()
		switch {
		case err != nil:
			return nil, err
		case b == '#':
			return s.check(raw)
		case b == '$': // the previous packet was cut off
			raw = raw[:0]
		case len(raw) == maxPacket:
			return nil, fmt.Errorf("a packet has more than %d bytes", maxPacket)
		default:
			raw = append(raw, b)
		}
	}
}

// check compares the checksum that follows.
func (s *scanner) check(raw []byte) ([]byte, error) {
	var digits [2]byte
	var want [1]byte
	if _, err := io.ReadFull(s.in, digits[:]); err != nil {
		return nil, err
	}
	if _, err := hex.Decode(want[:], digits[:]); err != nil || want[0] != sum(raw) {
		return nil, errChecksum
	}
	return expand(raw)
}

// unhex decodes hexadecimal bytes.
func unhex(text []byte) ([]byte, error) {
	out := make([]byte, len(text)/2)
	if _, err := hex.Decode(out, text); err != nil {
		return nil, fmt.Errorf("cannot read %.20q as hexadecimal bytes: %w", text, err)
	}
	return out, nil
}

// number reads a hexadecimal number.
func number(text string) (v uint64, err error) {
	if text == "" || len(text) > 16 {
		return 0, fmt.Errorf("cannot read %.20q as a number", text)
	}
	for _, c := range strings.ToLower(text) {
		d := strings.IndexRune("0123456789abcdef", c)
		if d < 0 {
			return 0, fmt.Errorf("cannot read %.20q as a number", text)
		}
		v = v<<4 | uint64(d)
	}
	return v, nil
}
