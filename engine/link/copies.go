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

	reading sync.Mutex // held while debug information is read; taken before mu
	found   []foundCopies
}

// notedPlace is a place that a probe was linked for.
type notedPlace struct {
	probe uint32
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
	if c.seen[key] {
		return
	}
	if c.seen == nil {
		c.seen = map[string]bool{}
	}
	c.seen[key] = true
	c.noted = append(c.noted, notedPlace{probe, place})
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
		if found, ok := p.at.Copies(); ok {
			c.found = append(c.found, foundCopies{p.probe, found})
			fresh = append(fresh, found)
		}
	}
	visit(fresh)
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
