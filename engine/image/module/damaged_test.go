package module

import (
	"bytes"
	"math/rand/v2"
	"os"
	"testing"

	"gotap/engine/testenv"
)

// askAll asks everything of a file: nothing may panic or hang, whatever the file holds.
func askAll(data []byte) {
	m, err := NewFile("damaged", bytes.NewReader(data))
	if err != nil {
		return
	}
	defer m.Close()
	m.Lookup("*")
	m.Lookup("a::b")
	m.LookupVar("c*")
	m.Suggest("main")
	m.FuncAt(m.Entry)
	m.VarAt(m.Entry)
	m.Marks()
	m.IRelative()
	m.Slots("puts")
	m.Frames()
	m.Debug()
	m.Code(m.Entry, 32)
	m.Windows(jumps).Around(m.Entry)
	for i := range min(3, len(m.Frames())) {
		m.Windows(jumps).At(m.Frames()[i].Start)
	}
	m.bias([]Mapping{{Start: 1 << 20, End: 1 << 30, Exec: true}})
}

// TestDamagedFiles changes bytes of a real program, mostly where the headers, tables and notes are.
func TestDamagedFiles(t *testing.T) {
	testenv.Require(t, testenv.GCC)
	for _, flags := range [][]string{{"-O2"}, m32} {
		if len(flags) > 1 && !testenv.Have(testenv.M32) {
			continue
		}
		whole, err := os.ReadFile(build(t, "gcc", append(append([]string{}, flags...), "names.c", "names2.c")...))
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(1, uint64(len(flags))))
		for range 1500 {
			data := bytes.Clone(whole)
			for range 1 + r.IntN(8) {
				at := r.IntN(len(data))
				if r.IntN(3) == 0 {
					at = r.IntN(0x400) // headers
				}
				data[at] = byte(r.Uint32())
			}
			if r.IntN(8) == 0 {
				data = data[:r.IntN(len(data))]
			}
			askAll(data)
		}
	}
}

func FuzzFile(f *testing.F) {
	f.Add([]byte("\x7fELF"))
	f.Add(tinyARM())
	f.Fuzz(func(t *testing.T, data []byte) { askAll(data) })
}
