package main

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
	p := &progress{to: write}
	p.begin("nothing")
	p.end()
	p.begin("reading")
	p.step("arming %s", "libc:write")
	time.Sleep(progressPatience + 2*progressEvery)
	p.clear()
	p.end()
	p.end()
	write.Close()
	raw, _ := io.ReadAll(read)
	text := string(raw)
	if !strings.HasPrefix(text, clearLine+"gotap: arming libc:write… 0.") || !strings.HasSuffix(text, clearLine) {
		t.Errorf("on the terminal: %q", text)
	}
	if strings.Contains(text, "nothing") {
		t.Errorf("what was over in time is told: %q", text)
	}
}

// Nobody is told where no terminal is.
func TestProgressNowhere(t *testing.T) {
	p := &progress{}
	p.begin("reading")
	p.step("arming")
	p.clear()
	p.end()
}
