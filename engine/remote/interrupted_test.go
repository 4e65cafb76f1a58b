package remote_test

import (
	"errors"
	"testing"

	"gotap/engine/backend"
	"gotap/engine/place"
	"gotap/engine/registry"
	"gotap/engine/remote"
	"gotap/runtime"
	"gotap/runtime/arena"
)

// TestPlacingIsInterrupted: when Quit is closed no more places are prepared or armed, and the program goes on
// untouched.
func TestPlacingIsInterrupted(t *testing.T) {
	for _, k := range kinds {
		if k.name != "a32" && k.name != "gdbserver" {
			continue
		}
		t.Run(k.name, func(t *testing.T) {
			for _, at := range []string{"prepared", "armed"} {
				g := k.start(t, "3")
				quit := make(chan struct{})
				s := opened(t, k, g, quit)
				compiled := 0
				spec := registry.Spec{ID: 1, Name: "all", Compile: func(registry.PlaceInfo) (registry.Handlers, error) {
					if compiled++; compiled == 3 && at == "prepared" {
						close(quit)
					}
					return registry.Handlers{Enter: &runtime.Code{}}, nil
				}}
				all, err := place.Parse("main+*")
				if err != nil {
					t.Fatal(err)
				}
				spec.Specs = []place.Spec{all}
				swap, err := s.Prepare([]registry.Spec{spec}, nil)
				if at == "armed" {
					if err != nil {
						t.Fatal(err)
					}
					close(quit)
					err = swap.CommitEach()
				} else if compiled != 3 {
					t.Errorf("%d places were compiled after the end of it", compiled-3)
				}
				if !errors.Is(err, backend.ErrInterrupted) {
					t.Errorf("while probes are %s: %v", at, err)
				}
				if n := s.Stats().Points; n != 0 {
					t.Errorf("while probes are %s: %d points", at, n)
				}
				if err := s.Close(false); err != nil {
					t.Fatal(err)
				}
				g.wait(t)
			}
		})
	}
}

// opened is a session of a target.
func opened(t *testing.T, k kind, g *target, quit <-chan struct{}) *remote.Session {
	t.Helper()
	arena, err := arena.New(arena.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { arena.Close() })
	s, err := remote.Open(remote.Config{Config: backend.Config{Arena: arena, Quit: quit}, Address: g.address, Exe: k.program(t)})
	if err != nil {
		t.Fatal(err)
	}
	return s
}
