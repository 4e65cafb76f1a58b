package terminal

import (
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

// What takes long is told on the line, cut to nothing at the end; what is over in time is not told at all.
func TestProgress(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p := &Progress{to: write}
	began := time.Now()
	p.begin("nothing")
	p.end()
	p.begin("reading")
	p.step("arming %s", "libc:write")
	inTime := time.Since(began) < progressPatience // nothing was due before
	text, more := "", make([]byte, 1000)
	for !strings.Contains(text, "arming libc:write… ") {
		n, err := read.Read(more)
		if err != nil {
			t.Fatal(err)
		}
		text += string(more[:n])
	}
	p.Clear()
	p.end()
	p.end()
	write.Close()
	rest, _ := io.ReadAll(read)
	if text += string(rest); !strings.HasSuffix(text, clearLine) || strings.Contains(text, "nothing") && inTime {
		t.Errorf("on the terminal: %q", text)
	}
	if first := clearLine + "gotap: arming libc:write… "; inTime && !strings.HasPrefix(text, first) {
		t.Errorf("on the terminal: %q, not %q first", text, first)
	}
}

// Nobody is told where no terminal is.
func TestProgressNowhere(t *testing.T) {
	p := &Progress{}
	p.begin("reading")
	p.step("arming")
	p.Clear()
	p.end()
}
