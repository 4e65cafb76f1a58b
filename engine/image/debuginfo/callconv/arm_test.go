package callconv

import (
	"bytes"
	"testing"
)

// TestAttributesAreOnlyRead takes an attribute from a section that goes on behind the attributes: sections are mapped
// files, which fault when they are written.
func TestAttributesAreOnlyRead(t *testing.T) {
	const cpuName, vfpArgs = 5, 28
	attributes := append([]byte("\x05"+"7-A\x00"), vfpArgs, 1)
	data := append([]byte("A\x1c\x00\x00\x00aeabi\x00\x01"), byte(5+len(attributes)), 0, 0, 0)
	data = append(append(data, attributes...), "next"...)
	before := bytes.Clone(data)
	if got := armAttribute(data, vfpArgs); got != 1 {
		t.Errorf("attribute %d is %d", vfpArgs, got)
	}
	if got := armAttribute(data, cpuName+1); got != 0 {
		t.Errorf("an attribute that is not there is %d", got)
	}
	if !bytes.Equal(before, data) {
		t.Errorf("reading has made %q of %q", data, before)
	}
}
