// Package jsvm is the JavaScript machine of one script: it runs the script's text and callbacks under a watchdog,
// defines built-in functions, converts values, and turns errors into diagnostics with a place in the user's text.
//
// # Threads
//
// A Machine belongs to one goroutine at a time: first the one that loads the script, then the host's. Only Stopped may
// be used from other goroutines. The watchdog's goroutine interrupts what runs too long; script code cannot catch that.
//
// # One callback
//
// Call starts the watchdog's clock and calls the function. A built-in function that finds a wrong argument calls Reject
// or Throw: an exception that carries a diagnostic with its own place and hint. When the callback ends with an
// exception, Explain makes a diagnostic of it and Faults reports it, the first few of each place; the run goes on.
// After a callback that used too much memory no callback runs any more.
//
// While the script is loaded (Loading), Reject only notes the error in Diags, so that all errors are reported at once.
package jsvm
