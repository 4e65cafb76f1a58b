// Package hook is the registry that everything which waits for something to happen hangs on: exit facilities, listeners to
// events of processes, and the order of the handlers of one place. Its rules are those of IBM's Generalised Kernel Hooks
// Interface (R. Moore, "A Universal Dynamic Trace for Linux and other Operating Systems", 2001), in the words of that interface.
//
// # Words
//
// A Hook is a point where something happens. An Exit is a function that wants to be called there. Registering an exit gives it a
// place in the hook's order; it is called from when it is armed until it is disarmed; deregistering takes it away.
// Identify makes a hook known by its name, for those that come later; Delete makes it unknown again.
//
// # Order
//
// The exit that says First is at the head, the one that says Last at the tail; of each there is one at most. An exit that says
// Only is alone: it is refused where others are, and others are refused where it is. All others are between, by ascending
// priority, and of the same priority in the order of their registration; with Newest the last one registered is the first of
// its priority. The first exit that returns anything but Continue ends the dispatch.
//
// # One dispatch
//
// Hook.armed points to an immutable list of the armed exits in order, nil when there are none. Dispatch loads it once: a hook
// without armed exits costs that load. Then for each exit it notes that it is inside (Exit.inside), looks whether the exit is
// still armed, calls it, and notes that it has left. Dispatch takes no lock and allocates nothing. Arming and disarming several
// exits of one hook makes one new list, so a dispatch that begins afterwards sees all of it or nothing.
//
// # Removal while dispatching
//
// A dispatch may still hold a list that an exit has been taken from. Two orders of two operations each make that harmless; the
// operations are sequentially consistent, as all of sync/atomic are.
//
//	dispatch:  inside += 1;      then read on      (call the exit only if on)
//	disarm:    on = false;       then read inside
//
// One of the two sees the other: either the dispatch finds the exit disarmed and does not call it, or the one that disarms finds
// that a call may be under way. Deregister waits for the second case to end:
//
//	dispatch:    inside -= 1;    then, if that made 0, read waiting and wake it
//	deregister:  set waiting;    then read inside, and wait if it is not 0
//
// Again one sees the other, so no wake-up is lost. Once inside has been 0 after the disarming, whoever enters finds the exit
// disarmed, until it is armed again, which needs a new registration. So when Deregister returns no call is under way and none will
// ever be made: what the exit uses may be freed.
//
// An exit must not wait for its own end: within an exit Deregister would never return. There, Disarm does not wait and may be
// called by anybody, and TryDeregister says ErrBusy instead of waiting.
//
// # One-shot
//
// An exit that is OneShot is called once for each arming, whatever number of threads dispatch at once: the one that turns its
// on from true to false calls it. It stays in the list, off, until the next change makes a new one, since a dispatch must not
// take the lock.
//
// # What is different from GKHI
//
// The conditions of entry (other processors stopped, interrupts off) belong to kernels and are not here. Parameters are one Go value
// of the hook's type in the place of a list of addresses.
//
// # Locks
//
// Registry.mu, then Hook.mu. Neither is held while an exit runs or is waited for.
package hook
