package executor

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"gotap/arch"
	"gotap/engine/registry/retprobe"
)

// spot is a place.
type spot struct {
	addr   uint64
	owners retprobe.Point
}

func (s *spot) Address() uint64         { return s.addr }
func (s *spot) Insn() arch.Site         { return nil }
func (s *spot) Owners() *retprobe.Point { return &s.owners }

// way is an executor that fits places below an address, and fails at one.
type way struct {
	name      string
	below     uint64
	failsAt   uint64
	installed []uint64
}

var errFull, errHigh = errors.New("no room"), errors.New("too high")

func (w *way) Name() string { return w.name }

func (w *way) Fits(p Place) error {
	if p.Address() >= w.below {
		return errHigh
	}
	return nil
}

func (w *way) Install(places ...Place) (failed []Failure) {
	for _, p := range places {
		if p.Address() == w.failsAt {
			failed = append(failed, Failure{p, errFull})
			continue
		}
		w.installed = append(w.installed, p.Address())
	}
	return failed
}

func (w *way) Replace(Place) error       { return nil }
func (w *way) Remove(...Place) []Failure { return nil }
func (w *way) Verify([]Place) error      { return nil }
func (w *way) How(Place) string          { return "by " + w.name }

// TestFirstThatFits: the first executor that fits a place gets it; if none fits, every one says why.
func TestFirstThatFits(t *testing.T) {
	fast, slow := &way{name: "fast", below: 10, failsAt: 5}, &way{name: "slow", below: 100}
	l := List{fast, slow}
	for addr, want := range map[uint64]Executor{1: fast, 9: fast, 10: slow, 99: slow} {
		by, err := l.Install(&spot{addr: addr})
		if err != nil || by != want || l.How(&spot{addr: addr}, nil) != want.How(nil) {
			t.Errorf("%d: %v, %v", addr, by, err)
		}
	}
	if slices.Sort(fast.installed); !slices.Equal(fast.installed, []uint64{1, 9}) || len(slow.installed) != 2 {
		t.Errorf("installed %d and %d", fast.installed, slow.installed)
	}
	_, err := l.Install(&spot{addr: 0x64})
	var unfit *UnfitError
	if !errors.As(err, &unfit) || unfit.Addr != 0x64 || !errors.Is(err, errHigh) ||
		err.Error() != "nothing can run a program at 0x64: fast: too high; slow: too high" {
		t.Errorf("none fits: %v", err)
	}
	if how := l.How(&spot{addr: 100}, nil); how != "refused" {
		t.Errorf("none fits: %s", how)
	}
	if _, err := (List{}).For(&spot{}); !errors.Is(err, errNoExecutor) {
		t.Errorf("an empty list: %v", err)
	}
	if by, err := l.Install(&spot{addr: 5}); by != nil || err != errFull {
		t.Errorf("an executor that fails: %v, %v", by, err)
	}
	if how := l.How(&spot{addr: 1}, slow); how != "by slow" {
		t.Errorf("installed by another one: %s", how)
	}
}

// TestErr: Err joins the reasons of failures, and returns nil for an empty list.
func TestErr(t *testing.T) {
	if Err(nil) != nil || Err([]Failure{{nil, errFull}}) != errFull {
		t.Error("none or one")
	}
	if err := Err([]Failure{{nil, errFull}, {nil, errHigh}}); !errors.Is(err, errFull) || !errors.Is(err, errHigh) || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("two: %v", err)
	}
}
