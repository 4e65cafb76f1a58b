package compile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"gotap/compile/diag"
	"gotap/runtime/opcode"
	"gotap/runtime/outcome"
)

// encoded is the file form of a program.
func encoded(t testing.TB, p *Program) []byte {
	t.Helper()
	b, err := p.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// listed is the listing of a program.
func listed(t testing.TB, p *Program) string {
	t.Helper()
	var out bytes.Buffer
	if err := List(&out, p, ListOptions{}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestListingAssemblesToTheSameBytes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		p := anyProgram(r)
		Verify(p)
		text := listed(t, p)
		q, diags := Assemble(diag.NewSource("listing", text))
		if err := diags.Err(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if !bytes.Equal(encoded(t, p), encoded(t, q)) {
			t.Fatalf("differs:\n%s\n%s", text, listed(t, q))
		}
	}
}

func TestFileFormIsReadBack(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 3000 {
		p := anyProgram(r)
		var q Program
		if err := q.UnmarshalBinary(encoded(t, p)); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(*p, q) {
			t.Fatalf("differs:\n%s\n%s", listed(t, p), listed(t, &q))
		}
	}
}

func TestDamagedFilesAreRefused(t *testing.T) {
	good := encoded(t, anyProgram(rand.New(rand.NewPCG(5, 6))))
	for n := range good {
		var p Program
		if err := p.UnmarshalBinary(good[:n]); !errors.Is(err, ErrFile) {
			t.Fatalf("first %d bytes: %v", n, err)
		}
		bad := bytes.Clone(good)
		bad[n] ^= 0x10
		if err := p.UnmarshalBinary(bad); !errors.Is(err, ErrFile) {
			t.Fatalf("byte %d changed: %v", n, err)
		}
	}
	var p Program
	newer := bytes.Clone(good)
	newer[4] = 9
	if err := p.UnmarshalBinary(newer); err == nil || !strings.Contains(err.Error(), "version is 9") {
		t.Errorf("newer version: %v", err)
	}
}

// FuzzUnmarshal feeds damaged payloads past the checksum.
func FuzzUnmarshal(f *testing.F) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 20 {
		b := encoded(f, anyProgram(r))
		f.Add(b[5 : len(b)-4])
	}
	bench := newBench(f)
	f.Fuzz(func(t *testing.T, payload []byte) {
		data := seal(payload)
		var p Program
		if err := p.UnmarshalBinary(data); err != nil {
			if !errors.Is(err, ErrFile) {
				t.Errorf("%v is not ErrFile", err)
			}
			return
		}
		if again := encoded(t, &p); !bytes.Equal(again, data) {
			t.Errorf("%x was read, %x written", data, again)
		}
		if !Verify(&p).HasErrors() {
			bench.check(t, &p, 1)
		}
		listed(t, &p)
	})
}

// FuzzAssemble feeds damaged listings.
func FuzzAssemble(f *testing.F) {
	r := rand.New(rand.NewPCG(9, 10))
	for range 20 {
		f.Add(listed(f, anyProgram(r)))
	}
	f.Add("loop end\nend:")
	f.Fuzz(func(t *testing.T, text string) {
		p, diags := Assemble(diag.NewSource("fuzz", text))
		if p == nil {
			if !diags.HasErrors() {
				t.Error("refused without an error")
			}
			return
		}
		Verify(p)
		q, diags := Assemble(diag.NewSource("again", listed(t, p)))
		if err := diags.Err(); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(encoded(t, p), encoded(t, q)) {
			t.Errorf("differs:\n%s\n%s", listed(t, p), listed(t, q))
		}
	})
}

func TestAssemblerErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"psuh d,5", `unknown command "psuh d,5"`},
		{"psuh d,5", "did you mean push d?"},
		{"  jmp nowhere", `a.s:1:7: error: unknown label "nowhere"`},
		{"L:\nL: exit", `a.s:2:1: error: label "L" is defined twice`},
		{"push d,x", `"x" is not a 64-bit number`},
		{"push io,u8", "I/O ports cannot be read"},
		{"push r,cr0", "register of the kernel"},
		{".foo 1", `unknown directive ".foo"`},
		{".text unquoted", "unquoted is not quoted text"},
		{".format log | int 0 maybe 1", `found "maybe"`},
		{"push c,pod", "it is one of pid, tid"},
	} {
		_, diags := Assemble(diag.NewSource("a.s", c.text))
		if text := diags.Error(); !strings.Contains(text, c.want) {
			t.Errorf("%q: %s\nwant %s", c.text, text, c.want)
		}
	}
}

func TestListingShowsSource(t *testing.T) {
	src := diag.NewSource("trace.js", "let a;\n  if (c.arg0 > 64) return;\nabort();\n")
	p := program(t, func(b *Builder) {
		done := b.NewLabel()
		b.At(diag.Span{Source: src, Start: 9, End: 20})
		b.A(opcode.Arg, 0)
		b.Jump(opcode.Jz, done)
		b.At(diag.Span{Source: src, Start: 34, End: 39})
		b.Op(opcode.Abort)
		b.Place(done)
		b.Exit(outcome.ExitPlain)
	})
	if err := Verify(p).Err(); err != nil {
		t.Fatal(err)
	}
	want := `; test: at most 3 steps, 1 words of stack, 0 bytes of log
.program "test"
; trace.js:2: if (c.arg0 > 64) return;
    0  push arg,0                 ; 0→1
    1  jz L3                      ; 1→0
; trace.js:3: abort();
    2  abort                      ; 0→0
L3:
    3  exit                       ; 0→0
`
	if got := listed(t, p); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// seal makes a file of a payload.
func seal(payload []byte) []byte {
	b := append(append([]byte(fileMagic), fileVersion), payload...)
	return binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
}
