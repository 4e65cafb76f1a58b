package symtab_test

import (
	"os"
	"testing"

	"gotap/engine/image/module"
)

// BenchmarkTable reads all symbols of a Go program of some size: this test.
func BenchmarkTable(b *testing.B) {
	exe, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		f, err := module.Open(exe)
		if err != nil {
			b.Fatal(err)
		}
		if len(f.Funcs()) == 0 {
			b.Fatal("no functions")
		}
		f.Close()
	}
}
