package remote_test

import (
	"bytes"
	"io"
	"net"
	"strings"
	"testing"
)

// keepsSP stands between gotap and a stub for x86-64, and keeps from it what is written to the stack pointer, as KGDB
// does: it answers that all is well.
func keepsSP(t *testing.T, stub string) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		client, err := l.Accept()
		if err != nil {
			return
		}
		defer client.Close()
		server, err := net.Dial("tcp", stub)
		if err != nil {
			return
		}
		defer server.Close()
		go io.Copy(client, server)
		forward(client, server)
	}()
	return l.Addr().String()
}

// forward passes on what a client sends, but for the stack pointer.
func forward(client, server net.Conn) {
	var pending []byte
	acks := "+"
	for chunk := make([]byte, 64<<10); ; {
		n, err := client.Read(chunk)
		if err != nil {
			return
		}
		pending = append(pending, chunk[:n]...)
		for {
			start, end := bytes.IndexByte(pending, '$'), bytes.IndexByte(pending, '#')
			if start < 0 || end < start || end+3 > len(pending) {
				break
			}
			packet := pending[start : end+3]
			if bytes.HasPrefix(packet, []byte("$P7=")) {
				server.Write(pending[:start])
				io.WriteString(client, acks+"$OK#9a")
			} else {
				server.Write(pending[:end+3])
			}
			if bytes.HasPrefix(packet, []byte("$QStartNoAckMode")) {
				acks = ""
			}
			pending = pending[end+3:]
		}
		if bytes.IndexByte(pending, '$') < 0 {
			server.Write(pending)
			pending = nil
		}
	}
}

// TestStackPointerIsKept: with a stub that does not take another stack pointer, instructions that change it are stepped
// by the stub, and the program does what it does without us.
func TestStackPointerIsKept(t *testing.T) {
	k := kinds[len(kinds)-1]
	program := k.program(t)
	g := k.start(t)
	got, errs, status := run(t, `
		let n = 0;
		probe("fact", { enter(c) { this.n = c.arg0; }, leave(c) { log("fact", this.n, c.ret); } });
		probe(["main+*", "work+*", "scale+*", "fact+*", "length+*", "even+*", "odd+*"], () => { n++; });
		end(() => console.log(n > 200));`, "--remote", keepsSP(t, g.address), "--exe", program)
	if status != 0 || !strings.Contains(got, "fact 1 1\n") || !strings.Contains(got, "fact 6 720\n") || !strings.HasSuffix(got, "true\n") {
		t.Errorf("status %d, %s\n%s", status, got, errs)
	}
	if out, _ := g.wait(t); !strings.Contains(out, output) {
		t.Errorf("the target wrote %q", out)
	}
	g = k.start(t)
	_, errs, status = run(t, `probe("work", { enter() { skip(1); } });`, "--remote", keepsSP(t, g.address), "--exe", program, "--unsafe")
	if status != 0 || !strings.Contains(errs, "skip has no effect through this stub") {
		t.Errorf("skip: status %d\n%s", status, errs)
	}
	if out, _ := g.wait(t); !strings.Contains(out, output) {
		t.Errorf("with skip the target wrote %q", out)
	}
}
