// Package debuginfod fetches debug files from servers of debuginfod, by build ID over HTTP, into the cache that all its
// clients share (debuginfod_find_debuginfo(3)). It fetches nothing unless the user has asked for it.
//
// One operation from start to end: Fetch(f) is called when the debug file of f is not on this machine. An empty file in
// the cache says that no server had it a moment ago. Otherwise the servers are asked in their order. What one sends
// goes to a temporary file in the cache, which gets its name when it is complete and has the build ID, so that other
// clients never see a part, or another file.
//
// A traced program names the build ID, and servers may be slow: sizes and times are bounded, for a file and for all,
// and a server that fails is not asked again. A Client is safe for concurrent use; it fetches one file at a time.
package debuginfod
