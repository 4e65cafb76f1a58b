// Package syslog writes what a run produces to a local datagram socket, as messages of RFC 5424. The layout is
// described in docs/json.md, with its version.
//
// A sink never waits: its socket does not block, and a message that it does not take is dropped and counted (Dropped).
// When the logger was restarted, the first message that fails makes the sink connect again, once for that message.
// Methods may be called from several goroutines.
package syslog
