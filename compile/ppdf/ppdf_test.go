package ppdf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"reflect"
	"strings"
	"testing"

	"gotap/compile"
	"gotap/compile/diag"
	"gotap/compile/dpdf"
	rtarena "gotap/runtime/arena"
	"gotap/runtime/object"
)

const sample = `name = "libc.so.6"
modtype = user
major = 3
id = 9
vars = 2
globals = 5
dfltexit = 1
autostacktrace = yes
ex_logmax = 200
offset = malloc
opcode = 0x55
minor = 7
group = 1
type = 2
pass_count = 10
max_hits = 20
logonfault = yes
ex_mask = 0x1021
sx failed
inc lv,1
push r,rdi
push d,0x20000000
sub
jz dump
abort
dump: exit 3
failed: log 3
log st
exit
offset = free + 4
minor = 8
inc gv,4
push d,16
push r,rsp
log mrf
exit
`

func arena(t testing.TB) *rtarena.Arena {
	t.Helper()
	a, err := rtarena.New(rtarena.Options{Size: 16 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

// parse is a definition in an arena in which other objects are already, so that numbers have to
// be changed.
func parse(t testing.TB, text string) *dpdf.File {
	t.Helper()
	a := arena(t)
	for range 3 {
		if _, err := a.Declare(object.Object{Name: "x", Kind: object.KindInt}); err != nil {
			t.Fatal(err)
		}
	}
	f, list := dpdf.Parse(diag.NewSource("a.dpdf", text), dpdf.Options{Arena: a})
	if err := list.Err(); err != nil {
		t.Fatal(err)
	}
	return f
}

func encoded(t testing.TB, text string) []byte {
	t.Helper()
	f, err := Build("a.dpdf", parse(t, text))
	if err != nil {
		t.Fatal(err)
	}
	data, err := Encode(f)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// listing is a program as people see it, without its source.
func listing(t testing.TB, p *compile.Program) string {
	t.Helper()
	var b strings.Builder
	if err := compile.List(&b, p, compile.ListOptions{NoSource: true}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestRoundTrip: what is loaded is what was parsed, but for places in the text.
func TestRoundTrip(t *testing.T) {
	want := parse(t, sample)
	f, err := Decode(encoded(t, sample))
	if err != nil {
		t.Fatal(err)
	}
	got, err := f.Bind(dpdf.Options{Arena: arena(t)})
	if err != nil {
		t.Fatal(err)
	}
	if f.Name != "a.dpdf" || len(got.Probes) != len(want.Probes) {
		t.Fatalf("%q with %d probes", f.Name, len(got.Probes))
	}
	if got.Locals != 0 || got.GlobalVars != 1 {
		t.Errorf("variables are objects %d and %d of an empty arena", got.Locals, got.GlobalVars)
	}
	for i := range got.Probes {
		g, w := got.Probes[i], want.Probes[i]
		if !g.Program.Bound.Verified {
			t.Errorf("probe %d is not verified", i)
		}
		ids := func(p *compile.Program, lv, gv int) *compile.Program {
			c, err := renumber(p, func(id int) (int, bool) { return map[int]int{lv: 70, gv: 71}[id], true })
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
		if a, b := listing(t, ids(g.Program, got.Locals, got.GlobalVars)), listing(t, ids(w.Program, want.Locals, want.GlobalVars)); a != b {
			t.Errorf("program %d is\n%s\nand was\n%s", i, a, b)
		}
		g.Program, w.Program, g.Span, w.Span = nil, nil, diag.Span{}, diag.Span{}
		if !reflect.DeepEqual(g, w) {
			t.Errorf("probe %d is %+v and was %+v", i, g, w)
		}
	}
}

func TestScript(t *testing.T) {
	data, err := Encode(&File{Name: "a.js", Script: "probe('é', c => 0)"})
	if err != nil {
		t.Fatal(err)
	}
	f, err := Decode(data)
	if err != nil || f.Definition != nil || f.Script != "probe('é', c => 0)" || f.Name != "a.js" {
		t.Errorf("%+v, %v", f, err)
	}
}

// seal puts length and checksum right, as someone who forges a file would.
func seal(data []byte) []byte {
	data = bytes.Clone(data)
	if len(data) >= frameSize {
		binary.LittleEndian.PutUint32(data[lengthAt:], uint32(len(data)))
		end := len(data) - crc32.Size
		binary.LittleEndian.PutUint32(data[end:], crc32.ChecksumIEEE(data[:end]))
	}
	return data
}

func TestRefused(t *testing.T) {
	good := encoded(t, sample)
	change := func(at int, to byte) []byte {
		c := bytes.Clone(good)
		c[at] = to
		return c
	}
	for name, c := range map[string]struct {
		data []byte
		text string
	}{
		"nothing":         {nil, "does not begin as one"},
		"text":            {[]byte("name = x"), "does not begin as one"},
		"newer":           {change(4, Version+1), "version 2, and this gotap reads up to 1"},
		"version 0":       {change(4, 0), "version 0"},
		"only the start":  {good[:9], "truncated after 9 bytes"},
		"half":            {good[:len(good)/2], "truncated: "},
		"one byte less":   {good[:len(good)-1], "truncated: "},
		"one byte more":   {append(bytes.Clone(good), 0), "1 bytes follow"},
		"one bit flipped": {change(40, good[40]^1), "checksum"},
		"kind":            {seal(change(5, 9)), "kind 9"},
		"huge":            {change(lengthAt+3, 0xff), "more than"},
		"left over":       {seal(append(bytes.Clone(good), 0, 0)), "2 bytes follow its end"},
	} {
		_, err := Decode(c.data)
		if !errors.Is(err, ErrFile) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for n := range good {
		if _, err := Decode(good[:n]); !errors.Is(err, ErrFile) {
			t.Fatalf("%d of %d bytes: %v", n, len(good), err)
		}
	}
}

// TestBindRefuses: programs are not trusted.
func TestBindRefuses(t *testing.T) {
	bad := func(change func(p *compile.Program)) error {
		f, err := Decode(encoded(t, sample))
		if err != nil {
			t.Fatal(err)
		}
		change(f.Definition.Probes[0].Program)
		_, err = f.Bind(dpdf.Options{Arena: arena(t)})
		return err
	}
	if err := bad(func(p *compile.Program) { p.Code = p.Code[:len(p.Code)-1] }); err == nil {
		t.Error("a program without an end is taken")
	}
	if err := bad(func(p *compile.Program) { p.Objects[0] = 7 }); err == nil || !strings.Contains(err.Error(), "is not a variable") {
		t.Errorf("another's object: %v", err)
	}
	if err := bad(func(p *compile.Program) { p.Unsafe = true }); !errors.Is(err, ErrUnsafe) {
		t.Errorf("a destructive program: %v", err)
	}
	f := parse(t, sample)
	f.Probes[0].Program.Objects[0] = 99
	if _, err := Build("x", f); err == nil {
		t.Error("an object of another file is built in")
	}
	f.Probes = nil
	f.Major = -1
	if _, err := Encode(&File{Name: "x", Definition: f}); err == nil {
		t.Error("a negative code is encoded")
	}
}

// FuzzDecode: whatever is read is either refused, or has one encoding and is verified before it
// can run.
func FuzzDecode(f *testing.F) {
	f.Add(encoded(f, sample))
	f.Add(encoded(f, "name = a\noffset = f\nexit\n"))
	script, _ := Encode(&File{Name: "a", Script: "b"})
	f.Add(script)
	f.Add([]byte(Magic))
	a := arena(f)
	ids := map[int]int{}
	shared := declarer{a, ids}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, data := range [][]byte{data, seal(data)} {
			file, err := Decode(data)
			if err != nil {
				if !errors.Is(err, ErrFile) {
					t.Errorf("%v", err)
				}
				continue
			}
			if again, err := Encode(file); err != nil || !bytes.Equal(again, data) {
				t.Fatalf("%v, or another encoding", err)
			}
			if file.Definition == nil {
				continue
			}
			d, err := file.Bind(dpdf.Options{Arena: shared})
			if err != nil {
				continue
			}
			for _, p := range d.Probes {
				if !p.Program.Bound.Verified {
					t.Error("a program that is not verified")
				}
			}
		}
	})
}

// declarer makes one array for each size, so that a long run does not fill the arena.
type declarer struct {
	a   *rtarena.Arena
	ids map[int]int
}

func (d declarer) Declare(o object.Object) (int, error) {
	if id, ok := d.ids[o.Size]; ok {
		return id, nil
	}
	id, err := d.a.Declare(o)
	d.ids[o.Size] = id
	return id, err
}
