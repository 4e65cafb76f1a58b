package record

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"gotap/runtime/value"
)

// damaged is a log of several items, to be damaged.
func damaged(t testing.TB) (log []byte, programs []Program) {
	var h Log
	h.Start(DefaultLog)
	for range 2 {
		h.Begin(0, 1)
		h.Word(5)
		h.Text([]byte("hello"), false)
		h.Text(make([]byte, 24), true)
		if !h.End() {
			t.Fatal("no room in the log")
		}
	}
	formats := []Format{{Kind: ItemLog}, {Kind: ItemEvent, Fields: []Field{{Kind: value.KindInt}, {Kind: value.KindText}, {Kind: value.KindStack}}}}
	return slices.Clone(h.Items()), []Program{{Name: "p", Formats: formats}}
}

// TestDamagedLog changes bytes and cuts the end: there is an error or another value, never a panic.
func TestDamagedLog(t *testing.T) {
	log, programs := damaged(t)
	if items, err := decodeItems(log, programs, 1); err != nil || len(items) != 2 {
		t.Fatal(items, err)
	}
	for n := range len(log) {
		items, err := decodeItems(log[:n], programs, 1)
		if n%(len(log)/2) != 0 && !errors.Is(err, errDamaged) {
			t.Errorf("cut at %d: %v %v", n, items, err)
		}
	}
	r := rand.New(rand.NewPCG(4, 4))
	for range 20_000 {
		bad := slices.Clone(log)
		for range 1 + r.IntN(3) {
			bad[r.IntN(len(bad))] ^= 1 << r.IntN(8)
		}
		decodeItems(bad, programs, 1)
	}
}

func FuzzDecode(f *testing.F) {
	log, programs := damaged(f)
	f.Add(log)
	f.Fuzz(func(t *testing.T, log []byte) { decodeItems(log, programs, 1) })
}
