package link

import (
	"fmt"
	"sync"

	"gotap/engine"
)

// Copies knows which of the linked functions have inlined copies, whose calls no probe on the function sees. Reading
// the debug information that lists them takes long, so places are only noted while probes are linked, and looked up
// later. Safe for concurrent use; the zero value is ready.
type Copies struct {
	mu    sync.Mutex // guards what follows; not held while debug information is read
	noted []notedPlace
	seen  map[string]bool
	taken map[string][]uint64 // by key, addresses of inlined copies that the probe is on

	reading sync.Mutex // held while debug information is read; taken before mu
	found   []foundCopies
}

// notedPlace is a place that a probe was linked for.
type notedPlace struct {
	probe uint32
	key   string
	at    engine.CopiedPlace
}

// foundCopies are the copies of a function that a probe is on.
type foundCopies struct {
	probe uint32
	engine.Copies
}

// note remembers a place of a probe.
func (c *Copies) note(probe uint32, at engine.PlaceInfo) {
	place, ok := at.(engine.CopiedPlace)
	if !ok {
		return
	}
	key := fmt.Sprintf("%d %s", probe, at.Name())
	c.mu.Lock()
	defer c.mu.Unlock()
	if in, can := at.(engine.InlinedPlace); can {
		if addr, is := in.InlinedAt(); is {
			if c.taken == nil {
				c.taken = map[string][]uint64{}
			}
			c.taken[key] = append(c.taken[key], addr)
		}
	}
	if c.seen[key] {
		return
	}
	if c.seen == nil {
		c.seen = map[string]bool{}
	}
	c.seen[key] = true
	c.noted = append(c.noted, notedPlace{probe, key, place})
}

// Fresh calls visit with the copies at places that were linked since the last call. A second call waits until visit has
// returned.
func (c *Copies) Fresh(visit func([]engine.Copies)) {
	c.reading.Lock()
	defer c.reading.Unlock()
	c.mu.Lock()
	places := c.noted
	c.noted = nil
	c.mu.Unlock()
	var fresh []engine.Copies
	for _, p := range places {
		if found, ok := p.at.Copies(); ok && c.uncovered(&found, p.key) {
			c.found = append(c.found, foundCopies{p.probe, found})
			fresh = append(fresh, found)
		}
	}
	visit(fresh)
}

// uncovered removes the copies that the probe is on, and reports whether there are others.
func (c *Copies) uncovered(found *engine.Copies, key string) bool {
	c.mu.Lock()
	taken := c.taken[key]
	c.mu.Unlock()
	none := len(found.Calls) == 0
	*found = found.Without(taken)
	return none || len(found.Calls) > 0
}

// Of returns the known copies of a probe's functions.
func (c *Copies) Of(probe uint32) (found []engine.Copies) {
	c.reading.Lock()
	defer c.reading.Unlock()
	for _, f := range c.found {
		if f.probe == probe {
			found = append(found, f.Copies)
		}
	}
	return found
}
