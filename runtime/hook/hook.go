package hook

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
)

// Code is what an exit returns. Anything but Continue ends the dispatch and is its result.
type Code int

// Continue has the next exit called.
const Continue Code = 0

// Terminate is for exits to which it does not matter which code ends the dispatch.
const Terminate Code = 1

// The ways in which a request can be refused. Errors of this package match one of them.
var (
	ErrOrder      = errors.New("the position is taken")                 // a second First or Last, or not alone with Only
	ErrRegistered = errors.New("the exit is registered already")        // a record serves one hook at a time
	ErrUnknown    = errors.New("the exit is not registered")            // arm, disarm or deregister of what is not there
	ErrBusy       = errors.New("the exit is being called")              // TryDeregister only
	ErrDeleted    = errors.New("the hook is deleted")                   // nothing can be registered with it any more
	ErrInUse      = errors.New("exits are registered with the hook")    // Delete without force
	ErrType       = errors.New("the hook is for another kind of event") // Identify of a name that has another type
)

// Hook is a point where events of type E happen. The zero Hook has no name and no exits and is ready for use. All
// methods are safe for concurrent use. It must not be copied.
type Hook[E any] struct {
	armed atomic.Pointer[[]*Exit[E]] // in order; nil when there are none

	name    string
	mu      sync.Mutex // guards what follows, and the changes of armed
	exits   []*Exit[E] // registered, in order
	deleted bool
}

// Exit is the record of a function that is called at a hook. The exported fields are set before Register and not
// changed until Deregister has returned.
type Exit[E any] struct {
	Name    string
	Func    func(E) Code // called on the goroutine of the dispatch, by several at once if several dispatch
	Order   Order
	OneShot bool // disarmed by the dispatch that calls it

	on      atomic.Bool
	inside  atomic.Int64                  // dispatches that call it, or are about to look whether they may
	waiting atomic.Pointer[chan struct{}] // closed by the last of them to leave
	hook    atomic.Pointer[Hook[E]]       // where it is registered; written under the hook's lock
	leaving bool                          // a Deregister waits for it; guarded by the hook's lock
}

// New makes a hook that no registry knows.
func New[E any](name string) *Hook[E] { return &Hook[E]{name: name} }

// Name is what the hook was identified by.
func (h *Hook[E]) Name() string { return h.name }

// Armed reports whether a dispatch may find anybody to call. It costs one load; a one-shot exit that has had its call
// counts until the next change.
func (h *Hook[E]) Armed() bool { return h.armed.Load() != nil }

// Dispatch calls the armed exits in their order with an event, until one returns a code that is not Continue, which is
// the result. It takes no lock and allocates nothing. A panic of an exit passes through.
func (h *Hook[E]) Dispatch(event E) Code {
	list := h.armed.Load()
	if list == nil {
		return Continue
	}
	for _, x := range *list {
		if code := x.enter(event); code != Continue {
			return code
		}
	}
	return Continue
}

// enter calls an exit unless it has been disarmed since the list was made. See "Removal while dispatching".
func (x *Exit[E]) enter(event E) Code {
	x.inside.Add(1)
	defer x.left()
	if x.OneShot {
		if !x.on.CompareAndSwap(true, false) {
			return Continue
		}
	} else if !x.on.Load() {
		return Continue
	}
	return x.Func(event)
}

// left notes that a dispatch is done with the exit, and wakes who waits for that.
func (x *Exit[E]) left() {
	if x.inside.Add(-1) != 0 || x.waiting.Load() == nil {
		return
	}
	if c := x.waiting.Swap(nil); c != nil {
		close(*c)
	}
}

// Register gives an exit its place in the order. It is not called until it is armed.
func (h *Hook[E]) Register(x *Exit[E]) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case x.Func == nil:
		return fmt.Errorf("cannot register %q with hook %q: it has no function", x.Name, h.name)
	case h.deleted:
		return h.refuse("register", x, ErrDeleted)
	}
	if err := h.place(x.Order); err != nil {
		return h.refuse("register", x, err)
	}
	if !x.hook.CompareAndSwap(nil, h) {
		return h.refuse("register", x, ErrRegistered)
	}
	at, _ := slices.BinarySearchFunc(h.exits, x.Order, func(o *Exit[E], order Order) int {
		if c := o.Order.Compare(order); c != 0 || order.Newest {
			return c
		}
		return -1 // behind those of the same priority
	})
	h.exits = slices.Insert(h.exits, at, x)
	return nil
}

// refuse is an error about an exit.
func (h *Hook[E]) refuse(verb string, x *Exit[E], why error) error {
	return fmt.Errorf("cannot %s %q at hook %q: %w", verb, x.Name, h.name, why)
}

// place checks that the order has room for a position. The lock is held.
func (h *Hook[E]) place(order Order) error {
	for _, o := range h.exits {
		if order.Excludes(o.Order) {
			return ErrOrder
		}
	}
	return nil
}

// Arm has exits called from now on, all of them from the same dispatch on. With an error none is armed that was not
// before.
func (h *Hook[E]) Arm(list ...*Exit[E]) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.own("arm", list); err != nil {
		return err
	}
	for _, x := range list {
		x.on.Store(true)
	}
	h.publish()
	return nil
}

// Disarm has exits called no more by dispatches that begin from now on; calls that are under way it does not wait for.
// They stay registered. An exit may disarm itself.
func (h *Hook[E]) Disarm(list ...*Exit[E]) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.own("disarm", list); err != nil {
		return err
	}
	h.disarm(list)
	return nil
}

// own checks that exits are registered here. The lock is held.
func (h *Hook[E]) own(verb string, list []*Exit[E]) error {
	for _, x := range list {
		if x.hook.Load() != h || x.leaving {
			return h.refuse(verb, x, ErrUnknown)
		}
	}
	return nil
}

// disarm publishes a list without the exits before it turns them off: a dispatch that begins in between sees none of
// them, not some. The lock is held.
func (h *Hook[E]) disarm(list []*Exit[E]) {
	h.publishWithout(list)
	for _, x := range list {
		x.on.Store(false)
	}
}

func (h *Hook[E]) publish() { h.publishWithout(nil) }

// publishWithout makes the list that dispatches see from now on. The lock is held.
func (h *Hook[E]) publishWithout(gone []*Exit[E]) {
	var armed []*Exit[E]
	for _, x := range h.exits {
		if x.on.Load() && !slices.Contains(gone, x) {
			armed = append(armed, x)
		}
	}
	if armed == nil {
		h.armed.Store(nil)
		return
	}
	h.armed.Store(&armed)
}

// Deregister takes exits away, disarming them first. When it returns none of them is being called and none will be. It
// must not be called from within one of them, which would wait for itself: see TryDeregister.
func (h *Hook[E]) Deregister(list ...*Exit[E]) error {
	if err := h.leave(list); err != nil {
		return err
	}
	for _, x := range list {
		x.rest()
	}
	h.forget(list)
	return nil
}

// TryDeregister is Deregister for those that must not wait. When an exit is being called it is disarmed, stays
// registered, and the error is ErrBusy: try again later.
func (h *Hook[E]) TryDeregister(x *Exit[E]) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := []*Exit[E]{x}
	if err := h.own("deregister", list); err != nil {
		return err
	}
	h.disarm(list)
	if x.inside.Load() != 0 {
		return h.refuse("deregister", x, ErrBusy)
	}
	h.drop(list)
	return nil
}

// leave disarms exits and keeps them from being armed again.
func (h *Hook[E]) leave(list []*Exit[E]) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.own("deregister", list); err != nil {
		return err
	}
	for _, x := range list {
		x.leaving = true
	}
	h.disarm(list)
	return nil
}

// rest waits until no dispatch is inside an exit that is disarmed for good. Only the one that set leaving calls it.
func (x *Exit[E]) rest() {
	done := make(chan struct{})
	x.waiting.Store(&done)
	if x.inside.Load() != 0 {
		<-done
	}
	x.waiting.Store(nil)
}

func (h *Hook[E]) forget(list []*Exit[E]) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.drop(list)
}

// drop takes exits from the order; their records can be registered again. The lock is held.
func (h *Hook[E]) drop(list []*Exit[E]) {
	h.exits = slices.DeleteFunc(h.exits, func(o *Exit[E]) bool { return slices.Contains(list, o) })
	for _, x := range list {
		x.leaving = false
		x.hook.Store(nil)
	}
}

// Exits lists the registered exits in their order.
func (h *Hook[E]) Exits() []*Exit[E] {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.exits)
}

// Armed reports whether the exit will be called by the next dispatch.
func (x *Exit[E]) Armed() bool { return x.on.Load() }

// close deletes the hook: with force its exits are deregistered, without it refuses while there are any.
func (h *Hook[E]) close(force bool) error {
	h.mu.Lock()
	if len(h.exits) > 0 && !force {
		h.mu.Unlock()
		return fmt.Errorf("cannot delete hook %q: %w", h.name, ErrInUse)
	}
	h.deleted = true
	list := slices.DeleteFunc(slices.Clone(h.exits), func(x *Exit[E]) bool { return x.leaving })
	h.mu.Unlock()
	if len(list) == 0 {
		return nil
	}
	return h.Deregister(list...)
}
