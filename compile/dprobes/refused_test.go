package dprobes

import (
	"strings"
	"testing"
)

func TestRefused(t *testing.T) {
	for _, c := range []struct{ command, why string }{
		{"suspend", "never did anything"}, {"push io", "I/O ports"}, {"push io, 4", "I/O ports"}, {"alloc  gv", "header"},
		{"push r, cr3", kernelRegister}, {"push u,msr", kernelRegister}, {"pop r, xmm0", readOnly}, {"push r, xmm0", ""},
		{"push r, crx", ""}, {"suspended", ""}, {"pop r,eax", ""}, {"add", ""}, {"", ""},
	} {
		if why := Refused(c.command); !strings.Contains(why, c.why) || c.why == "" && why != "" {
			t.Errorf("%q is refused because %q, not %q", c.command, why, c.why)
		}
	}
}
