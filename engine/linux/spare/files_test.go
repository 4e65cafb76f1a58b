package spare

import (
	"syscall"
	"testing"
)

// TestFiles fills a set of files where fewer can be opened than are asked for, and frees them, after which as many can
// be opened again.
func TestFiles(t *testing.T) {
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	few := before
	few.Cur = 64
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few); err != nil {
		t.Fatal(err)
	}
	defer syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before)
	var all, one Files
	all.Fill(1000)
	n := len(all)
	if n == 0 || n >= 64 {
		t.Fatalf("%d files are open, where the limit is 64", n)
	}
	if one.Fill(1); len(one) != 0 {
		t.Error("one more than the limit")
	}
	all.Free()
	if one.Fill(n); len(all) != 0 || len(one) != n {
		t.Errorf("after Free %d files are left, and %d of %d can be opened", len(all), len(one), n)
	}
	one.Free()
}
