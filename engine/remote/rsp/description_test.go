package rsp

import (
	"errors"
	"fmt"
	"testing"
)

func TestDescription(t *testing.T) {
	files := map[string]string{
		"target.xml": `<?xml version="1.0"?><!DOCTYPE target SYSTEM "gdb-target.dtd"><target><architecture>arm</architecture>
			<xi:include href="core.xml"/><feature name="x"><reg name="d0" bitsize="64" type="float"/></feature></target>`,
		"core.xml": `<feature name="org.gnu.gdb.arm.core"><reg name="r0" bitsize="32"/><reg name="pc" bitsize="32" type="code_ptr"/>
			<reg name="cpsr" bitsize="32" regnum="25"/></feature>`,
	}
	d, err := ParseDescription("target.xml", func(name string) ([]byte, error) { return []byte(files[name]), nil })
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(d.Architecture, d.Registers)
	if want := "arm[{r0 0 32 0} {pc 1 32 4} {cpsr 25 32 8} {d0 26 64 12}]"; got != want {
		t.Errorf("got %s, not %s", got, want)
	}
}

func TestBrokenDescriptions(t *testing.T) {
	for name, text := range map[string]string{
		"no XML":          "E01",
		"no registers":    "<target/>",
		"no size":         `<target><reg name="r0"/></target>`,
		"negative size":   `<target><reg name="r0" bitsize="-8"/></target>`,
		"huge size":       `<target><reg name="r0" bitsize="99999999"/></target>`,
		"negative number": `<target><reg name="r0" bitsize="8" regnum="-1"/></target>`,
		"itself":          `<target><xi:include href="target.xml"/></target>`,
		"cut off":         `<target><reg name="r0" bitsize="8"/>`,
	} {
		if d, err := ParseDescription("target.xml", func(string) ([]byte, error) { return []byte(text), nil }); err == nil {
			t.Errorf("%s: read as %v", name, d.Registers)
		}
	}
	missing := errors.New("missing")
	if _, err := ParseDescription("target.xml", func(string) ([]byte, error) { return nil, missing }); !errors.Is(err, missing) {
		t.Errorf("a document that is not there: %v", err)
	}
}

// FuzzDescription: whatever a stub sends is a description with registers in their places, or an error.
func FuzzDescription(f *testing.F) {
	f.Add(`<target><architecture>arm</architecture><reg name="r0" bitsize="32" regnum="3"/><xi:include href="b"/></target>`, `<reg name="x" bitsize="7"/>`)
	f.Add(`<!DOCTYPE a [<!ENTITY x "y">]><target>&x;</target>`, `<target`)
	f.Fuzz(func(t *testing.T, first, other string) {
		d, err := ParseDescription("target.xml", func(name string) ([]byte, error) {
			if name == "target.xml" {
				return []byte(first), nil
			}
			return []byte(other), nil
		})
		if err != nil {
			return
		}
		at := 0
		for _, r := range d.Registers {
			if r.Offset != at || r.Bits < 1 || r.Number < 0 {
				t.Fatalf("register %+v at %d", r, at)
			}
			at += r.Bytes()
		}
	})
}
