package hook

import (
	"fmt"
	"slices"
	"sync"
)

// Registry knows hooks by their names, so that exits can be registered with a hook by those that do not own it. The
// zero Registry is ready for use. Safe for concurrent use.
type Registry struct {
	mu    sync.Mutex
	hooks map[string]closer
}

// closer is a hook of any type.
type closer interface{ close(force bool) error }

// Identify gives the hook of a name, and makes it first when there is none. The error is ErrType when the name is that
// of a hook for other events.
func Identify[E any](r *Registry, name string) (*Hook[E], error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, ok := r.hooks[name]; ok {
		h, ok := known.(*Hook[E])
		if !ok {
			return nil, fmt.Errorf("cannot identify hook %q: %w", name, ErrType)
		}
		return h, nil
	}
	if r.hooks == nil {
		r.hooks = map[string]closer{}
	}
	h := New[E](name)
	r.hooks[name] = h
	return h, nil
}

// Delete makes a name unknown. While exits are registered it is refused, or with force they are deregistered; so with
// force it must not be called from within an exit of the hook. Those that still have the hook can dispatch to it, to
// nobody.
func (r *Registry) Delete(name string, force bool) error {
	r.mu.Lock()
	h, ok := r.hooks[name]
	r.mu.Unlock()
	if !ok {
		return fmt.Errorf("cannot delete hook %q: not found", name)
	}
	if err := h.close(force); err != nil { // waits for exits: not under the lock
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.hooks[name] == h {
		delete(r.hooks, name)
	}
	return nil
}

// Names lists the hooks there are, sorted.
func (r *Registry) Names() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	names := make([]string, 0, len(r.hooks))
	for name := range r.hooks {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
