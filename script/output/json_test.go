package output

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"
)

// TestJSONControls: no record has a control character as it is, and its text is whole.
func TestJSONControls(t *testing.T) {
	var b bytes.Buffer
	j := NewJSON(&b)
	const text = "a\x1b[31m\a\x7f\u0080\u009b2Jä\u00a0\u2028"
	j.Ready()
	j.Print(text)
	j.End(End{})
	if i := strings.IndexFunc(b.String(), func(r rune) bool { return r != '\n' && unicode.IsControl(r) }); i >= 0 {
		t.Errorf("control character at %d of %q", i, b.String())
	}
	var record struct{ Text string }
	if line := strings.Split(b.String(), "\n")[1]; json.Unmarshal([]byte(line), &record) != nil || record.Text != text {
		t.Errorf("%s gives %q, want %q", line, record.Text, text)
	}
}
