// Package manager answers `gotap ctl` for a running session.
//
// # One request
//
// The server of package wire reads a request on the goroutine of its client and calls reply. The verb's method asks the
// session's Control, which makes changes one after the other, and turns what it returns into a reply; an error becomes
// a refusal with its text, hint and exit status. A panic is answered as an error, too: it must not end the session,
// whose probes would stay in the target.
//
// # The end
//
// Close lets the request that is being answered finish and freezes the session's Control, so that nothing is changed
// afterwards. Unlink removes the socket's name alone; it is for ends that cannot wait.
package manager
