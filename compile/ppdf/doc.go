// Package ppdf reads and writes prebuilt probe files: what a definition file or a script was made into, in one file
// that needs nothing else, neither the text nor what it included, nor the target.
//
// Build makes a File of a definition, Encode its bytes; Decode reads them, and Bind makes a definition of them that
// runs in an arena. Places stay symbolic, variables are numbered within the file, so that a file serves any machine.
// What is in a file is not trusted: Decode checks the form of every part, Bind verifies each program as if it had just
// been compiled.
//
// A file of a script holds its text: callbacks are JavaScript, and its programs depend on values that only running it
// gives.
//
// # Format
//
//	"gPPD", version 1, kind (1 definition, 2 script)
//	length of the whole file: 4 bytes, little-endian
//	name that it was built from
//	definition: module; major, id, default exit, numbers of local and global variables; probes: a count, and each
//	    place; opcode+1 (0: any); major, minor, group, type; pass count, most hits; flags (1: log on fault);
//	    its program, a text as package compile encodes it, whose objects are 0 for local and 1 for global variables
//	script: its text
//	CRC-32 (IEEE) of all before, 4 bytes, little-endian
//
// Numbers are unsigned varints, texts a length and bytes. A higher version is refused, because what it adds cannot be
// ignored. Each file has one encoding: what Decode accepts, Encode gives back byte by byte.
//
// All functions are safe for concurrent use; they share nothing.
package ppdf
