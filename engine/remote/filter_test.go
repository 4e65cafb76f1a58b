package remote_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"
)

// A filter stands between gotap and a real stub, and makes it the stub of something smaller, slower or noisier.
type filter struct {
	knows  []string      // beginnings of the commands that reach the stub, "" is all; others get the empty answer
	delay  time.Duration // before each answer
	broken bool          // answers come byte by byte
	noise  string        // comes before each answer
	lose   int           // the connection ends with this command; 0: never
}

// listen serves one connection, and returns where.
func (f filter) listen(t *testing.T, stub string) string {
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
		go f.answers(client, server)
		f.commands(client, server)
	}()
	return l.Addr().String()
}

// commands passes on what the client sends. What the stub is not to know is answered here.
func (f filter) commands(client, server net.Conn) {
	in := bufio.NewReader(client)
	for n := 1; ; {
		b, err := in.ReadByte()
		if err != nil {
			return
		}
		if b != '$' {
			server.Write([]byte{b})
			continue
		}
		text, _ := in.ReadString('#')
		var sum [2]byte
		if _, err := io.ReadFull(in, sum[:]); err != nil || n == f.lose {
			return
		}
		n++
		if slices.ContainsFunc(f.knows, func(k string) bool { return strings.HasPrefix(text, k) }) {
			fmt.Fprintf(server, "$%s%s", text, sum[:])
			continue
		}
		io.WriteString(client, "+$#00")
		if b, err := in.Peek(1); err == nil && b[0] == '+' { // the acknowledgement of what the stub has not sent
			in.ReadByte()
		}
	}
}

// answers passes on what the stub sends.
func (f filter) answers(client, server net.Conn) {
	buf := make([]byte, 1<<16)
	for {
		n, err := server.Read(buf)
		if err != nil {
			client.Close()
			return
		}
		time.Sleep(f.delay)
		io.WriteString(client, f.noise)
		if !f.broken {
			client.Write(buf[:n])
			continue
		}
		for i := range n {
			client.Write(buf[i : i+1])
		}
	}
}

// What stubs know that know little: GDB's manual asks for "g G m M c s", and KGDB and small probes add to that.
var (
	minimal = []string{"?", "g#", "G", "m", "M", "c#", "s#", "Z0", "z0"}
	writing = []string{"?", "g#", "G", "m", "M", "c#", "s#"}
	kgdb    = []string{"?", "g#", "G", "m", "M", "c#", "s#", "Z0", "z0", "qfThreadInfo", "qsThreadInfo", "qC", "H", "T", "D", "p", "P"}
	openOCD = []string{"?", "g#", "G", "m", "M", "c#", "s#", "Z", "z", "qSupported", "qXfer:features", "qC", "H", "D", "p", "P", "X"}
)

// TestOtherStubs: the same program gives the same counts through stubs that know less, are slow, or send what nobody
// asked for.
func TestOtherStubs(t *testing.T) {
	for name, f := range map[string]filter{
		"minimal":      {knows: minimal},
		"patched":      {knows: writing},
		"like KGDB":    {knows: kgdb},
		"like OpenOCD": {knows: openOCD},
		"slow":         {knows: []string{""}, delay: 5 * time.Millisecond},
		"byte by byte": {knows: []string{""}, broken: true},
		"noisy":        {knows: []string{""}, noise: "\r\n# ok +"},
	} {
		t.Run(name, func(t *testing.T) {
			fixed := kinds[len(kinds)-1] // a stub that knows little does not tell where a program lies
			fixed.name, fixed.compiler = "gdbserver-fixed", []string{"gcc", "-no-pie"}
			tried := []kind{kinds[0], kinds[1], kinds[2], fixed}
			if name == "patched" { // QEMU's user emulation lets nobody write code
				tried = tried[3:]
			}
			for _, k := range tried {
				t.Run(k.name, func(t *testing.T) {
					g := k.start(t)
					address := f.listen(t, g.address)
					got, errs, status := run(t, `
						let n = 0, sum = 0;
						probe("work", { enter(c) { n++; this.a = c.arg0; }, leave(c) { sum += c.ret - this.a; } });
						probe("fact", { leave(c) { if (c.ret === 720) log("fact", c.ret); } });
						probe("length", (c) => { log("length", str(c.arg0, 16)); });
						end(() => console.log("n", n, "sum", sum));`, "--remote", address, "--exe", k.program(t))
					if status != 0 || !strings.Contains(got, "n 5 sum 35\n") || !strings.Contains(got, "fact 720\n") || !strings.Contains(got, "length hello\n") {
						t.Errorf("status %d\n%s\n%s", status, got, errs)
					}
					if out, _ := g.wait(t); !strings.Contains(out, output) {
						t.Errorf("the target wrote %q", out)
					}
				})
			}
		})
	}
}
