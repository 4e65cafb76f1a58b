// Package hook calls registered functions in a defined order when something happens. Exit facilities, listeners to
// events of processes and the handlers of one place use it. Its rules and words are those of IBM's Generalised Kernel
// Hooks Interface (R. Moore, "A Universal Dynamic Trace for Linux and other Operating Systems", 2001).
//
// # Words
//
// A Hook is a point where something happens. An Exit is a function to be called there. Registering an exit gives it a
// position in the hook's order. It is called while it is armed. Deregistering removes it.
// Identify publishes a hook under its name; Delete withdraws the name.
//
// # Order
//
// At most one exit may ask to be First and at most one to be Last. An exit that asks to be the Only one is refused if
// the hook has others, and others are refused while it is registered. All other exits are called between First and
// Last, by ascending priority. Exits of the same priority are called in the order of their registration; one with
// Newest is called before those of its priority that were registered earlier. The first exit that returns anything but
// Continue ends the dispatch.
//
// # One dispatch
//
// Hook.armed points to an immutable list of the armed exits in order, nil when there are none. Dispatch loads it once:
// a hook without armed exits costs that load. Then for each exit it notes that it is inside (Exit.inside), looks
// whether the exit is still armed, calls it, and notes that it has left. Dispatch takes no lock and allocates nothing.
// Arming and disarming several exits of one hook makes one new list, so a dispatch that begins afterwards sees all of
// it or nothing.
//
// # Removal while dispatching
//
// A dispatch may still hold a list that an exit has been taken from. Two orders of two operations each make that
// harmless; the operations are sequentially consistent, as all of sync/atomic are.
//
//	dispatch:  inside += 1;      then read on      (call the exit only if on)
//	disarm:    on = false;       then read inside
//
// One of the two sees the other: either the dispatch finds the exit disarmed and does not call it, or the one that
// disarms finds that a call may be under way. Deregister waits for the second case to end:
//
//	dispatch:    inside -= 1;    then, if that made 0, read waiting and wake it
//	deregister:  set waiting;    then read inside, and wait if it is not 0
//
// Again one sees the other, so no wake-up is lost. Once inside has been 0 after the disarming, every dispatch finds the
// exit disarmed, until it is armed again, which needs a new registration. So when Deregister returns no call is under
// way and none will ever be made: what the exit uses may be freed.
//
// An exit must not wait for its own end: within an exit Deregister would never return. Disarm does not wait and may be
// called anywhere; TryDeregister returns ErrBusy instead of waiting.
//
// # One-shot
//
// An exit that is OneShot is called once for each arming, whatever number of threads dispatch at once: the one that
// turns its on from true to false calls it. It stays in the list, off, until the next change makes a new one, since a
// dispatch must not take the lock.
//
// # What is different from GKHI
//
// The conditions of entry (other processors stopped, interrupts off) belong to kernels and are not here. Parameters are
// one Go value of the hook's type in the place of a list of addresses.
//
// # Locks
//
// Registry.mu, then Hook.mu. Neither is held while an exit runs or is waited for.
package hook
