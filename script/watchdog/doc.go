// Package watchdog ends JavaScript callbacks that run too long or take too much memory.
//
// # Goroutines
//
// The goroutine that owns the JavaScript machine calls Begin, End, Pause, Within and Rebase. The Watchdog has a
// goroutine of its own, which checks the running callback every few milliseconds and sleeps while no callback runs, so
// that Begin and End cost two uncontended locks. It calls Interrupt and Stuck; a second goroutine runs while garbage is
// collected.
//
// # One callback
//
// Begin notes the deadline and wakes the goroutine. When the deadline passes, or the heap has grown beyond the limit
// and a collection did not help, the goroutine calls Interrupt with a DeadlineError or a HeapError. End takes back an
// interrupt that came too late. A callback that goes on for three seconds after Interrupt is inside a built-in function
// that cannot be interrupted: Stuck is called, and the process has to detach from its targets and end.
//
// # What may be called from where
//
// Watchdog.mu is a leaf; Interrupt is called with it held and must not call back.
package watchdog
