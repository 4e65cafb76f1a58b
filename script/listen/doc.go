// Package listen has the callbacks that are not a probe's: on(event, …) for events of processes, and facility(number,
// …) for "exit NUMBER" of definition files. Both are exits of hooks: package hook defines their order.
//
// # One event
//
// The engine reports an event; Armed says whether a callback listens. The host calls Dispatch in the order of the
// records around it. Each callback runs under the watchdog; one that returns "stop" ends the chain. Records of
// facilities are dispatched by package facility.
//
// # Threads
//
// Armed is safe for concurrent use. Everything else belongs to the goroutine that owns the JavaScript machine.
package listen
