// Package locate finds the places that a probe names among the modules of processes, and compiles the probe for each of
// them. Native tracing and remote stubs use it alike; what only one of them knows it asks for by the interface Host.
//
// # Preparing a probe, from start to end
//
// Locator.Prepare takes the specifications of a probe and the processes that exist, each with its modules. For each
// specification it lists the targets in each process (Targets), and makes the probe's placement at each of them
// (Place), which compiles its programs once for each place of a file. A place that was named outright and is refused is
// an error. So is a specification that means nothing in any process, unless the probe is optional or the place may come
// with a module that is mapped later (Host.Awaits).
//
// # Answers that are kept
//
// Children that run the same programs again and again ask the same questions. So the answer for a specification and a
// list of files is kept, when it was found or when it is certain that it is not there. Other errors may pass, and are
// not kept.
//
// # Threads
//
// All methods of Locator may be called from any goroutine. Host's methods are called from the same one. Nothing is
// locked while Host is called or a place is compiled.
package locate
