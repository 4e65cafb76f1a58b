package backend

import (
	"errors"
	"testing"
)

// TestDefaults: the zero value of a configuration works, and what is set stays.
func TestDefaults(t *testing.T) {
	var c Config
	c.Defaults()
	if c.MaxProbes != 1000 || c.Facilities == nil {
		t.Errorf("the zero value became %+v", c)
	}
	inline := Config{Engine: Inline}
	if inline.Defaults(); inline.MaxProbes < 1<<30 {
		t.Errorf("inline places are limited to %d", inline.MaxProbes)
	}
	facilities := c.Facilities
	c.MaxProbes = 5
	if c.Defaults(); c.MaxProbes != 5 || c.Facilities != facilities {
		t.Errorf("what was set became %+v", c)
	}
}

// TestInterrupted: closing Quit ends the placing of probes, also in the middle of a function's instructions.
func TestInterrupted(t *testing.T) {
	if err := new(Config).Interrupted(); err != nil {
		t.Errorf("without Quit: %v", err)
	}
	quit := make(chan struct{})
	c := Config{Quit: quit}
	if err := c.Interrupted(); err != nil {
		t.Errorf("before it is closed: %v", err)
	}
	close(quit)
	if err := c.Interrupted(); !errors.Is(err, ErrInterrupted) {
		t.Errorf("after it is closed: %v", err)
	}
	if _, err := c.Boundaries(nil, nil, 0); !errors.Is(err, ErrInterrupted) {
		t.Errorf("listing boundaries: %v", err)
	}
}
