// Package xz decompresses data in the XZ format, which Fedora uses for the symbols in .gnu_debugdata.
//
// One operation from start to end: Decode reads the header of the stream, and for each block its header, the chunks of
// LZMA2 and the checksum. Chunks are decoded into the result itself, which is the dictionary as well. So the memory is
// that of the result, whatever size of dictionary a header claims, and the caller bounds the result.
//
// The data comes from the traced program and may be malicious: sizes are compared with the data and with the bound,
// distances with what has been decoded, and each checksum is verified. Filters other than LZMA2 are refused;
// compressors add them only when asked.
//
// The format is that of "The .xz File Format" 1.2.1; LZMA is as its public specification describes it. The package has
// no state and may be used from any goroutine.
//
// Called from: module.
package xz
