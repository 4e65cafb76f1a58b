package rsp

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Register is one register of a target.
type Register struct {
	Name   string
	Number int // in packets
	Bits   int
	Offset int // offset of its bytes in the answer to "g"; it may lie behind the answer's end
}

// Bytes returns the size of the register in packets.
func (r Register) Bytes() int { return (r.Bits + 7) / 8 }

// Description is what a stub reports about its target. It is immutable.
type Description struct {
	Architecture string // as GDB names it: "arm", "aarch64", "i386", "i386:x86-64"; "" when the stub does not say
	Registers    []Register
}

// Limits of a description, so that a broken one causes an error and nothing worse. The largest existing ones have
// some 2,000 registers and six files.
const (
	maxRegisters = 8192
	maxBits      = 1 << 16
	maxIncludes  = 64
)

// Describe reads the target description; ErrUnsupported when the stub has none.
func (c *Client) Describe() (*Description, error) {
	if c.desc != nil {
		return c.desc, nil
	}
	d, err := ParseDescription("target.xml", func(name string) ([]byte, error) { return c.Transfer("features", name) })
	if err != nil {
		return nil, err
	}
	c.desc = d
	return d, nil
}

// UseDescription sets the description of a stub that has none of its own.
func (c *Client) UseDescription(d *Description) { c.desc = d }

// ParseDescription parses a target description; open returns the document with a name: the given one and those that
// it includes.
func ParseDescription(name string, open func(name string) ([]byte, error)) (*Description, error) {
	p := descriptionReader{open: open}
	if err := p.document(name); err != nil {
		return nil, fmt.Errorf("cannot read the target description: %w", err)
	}
	if len(p.d.Registers) == 0 {
		return nil, errors.New("cannot read the target description: it lists no registers")
	}
	p.d.layOut()
	return &p.d, nil
}

// layOut gives the registers their places in the "g" packet: they follow each other by number.
func (d *Description) layOut() {
	slices.SortStableFunc(d.Registers, func(a, b Register) int { return a.Number - b.Number })
	at := 0
	for i := range d.Registers {
		d.Registers[i].Offset = at
		at += d.Registers[i].Bytes()
	}
}

// Find returns the register with a name.
func (d *Description) Find(name string) (Register, bool) {
	for _, r := range d.Registers {
		if r.Name == name {
			return r, true
		}
	}
	return Register{}, false
}

// descriptionReader collects a description over several documents.
type descriptionReader struct {
	open func(string) ([]byte, error)
	d    Description
	seen []string // documents that have been read
	next int      // number of the next register that has none
	text *string  // where the text of the present element is stored
}

// document reads one document.
func (p *descriptionReader) document(name string) error {
	if slices.Contains(p.seen, name) || len(p.seen) == maxIncludes {
		return fmt.Errorf("%s is included too often", name)
	}
	p.seen = append(p.seen, name)
	data, err := p.open(name)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	dec := xml.NewDecoder(bytes.NewReader(data))
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = p.token(token)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
}

func (p *descriptionReader) token(token xml.Token) error {
	switch t := token.(type) {
	case xml.StartElement:
		p.text = nil
		return p.element(t)
	case xml.EndElement:
		p.text = nil
	case xml.CharData:
		if p.text != nil && len(*p.text)+len(t) < 100 {
			*p.text = strings.TrimSpace(*p.text + string(t))
		}
	}
	return nil
}

// element reads the relevant elements: the others describe registers for display.
func (p *descriptionReader) element(t xml.StartElement) error {
	switch t.Name.Local {
	case "architecture":
		p.text = &p.d.Architecture
	case "include":
		return p.document(attribute(t, "href"))
	case "reg":
		return p.register(t)
	}
	return nil
}

func (p *descriptionReader) register(t xml.StartElement) error {
	r := Register{Name: attribute(t, "name"), Number: p.next}
	var err error
	if r.Bits, err = strconv.Atoi(attribute(t, "bitsize")); err != nil || r.Bits < 1 || r.Bits > maxBits {
		return fmt.Errorf("register %.40q has no size", r.Name)
	}
	if text := attribute(t, "regnum"); text != "" {
		if r.Number, err = strconv.Atoi(text); err != nil || r.Number < 0 || r.Number > 1<<20 {
			return fmt.Errorf("register %.40q has no number", r.Name)
		}
	}
	if len(p.d.Registers) == maxRegisters {
		return fmt.Errorf("there are more than %d registers", maxRegisters)
	}
	p.next = r.Number + 1
	p.d.Registers = append(p.d.Registers, r)
	return nil
}

// attribute returns the value of an attribute, or "" if it does not exist.
func attribute(t xml.StartElement, name string) string {
	for _, a := range t.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}
