// Package armtest runs gotap's tests of real processes on ARM: on Debian's kernels for 32-bit and 64-bit ARM, in machines that QEMU
// emulates.
//
// How a run goes. Go builds the tests of package engine, and gotap, for the machine; a cross compiler builds the programs that the
// tests trace: A32, Thumb and A64, static and with shared libraries. All that goes into an initramfs (cpio.go), whose first process
// is the program in folder guest: it mounts what a system needs, runs the commands that the image lists, and switches the machine
// off. Boot returns what was written to the console; a test looks for the verdicts there.
//
// The kernels come from Debian's packages, which apt fetches and nobody installs (kernel.go). They are kept in the user's cache
// directory, so that only the first run needs a network.
//
// # How much can be probed
//
// TestShares counts, on Debian 12:
//
//	                instructions  can be probed  refused
//	libc.a, A32          304,772        99.99 %  30 coprocessor
//	libc.a, Thumb        303,070        98.98 %  1982 exclusive, 1079 between exclusives, 30 coprocessor
//	libc.a, A64          271,402        99.90 %  197 scalable, 69 memory tag, 11 breakpoint
//	busybox, A32          76,134        99.95 %  34 coprocessor, 7 trap
//	busybox, Thumb        94,911        98.68 %  755 exclusive, 401 between exclusives, 75 coprocessor, 17 trap, 1 endian
//	busybox, A64          64,172        99.82 %  68 memory tag, 26 exclusive, 14 between exclusives, 5 scalable, 5 breakpoint
//
// The libraries have symbols that tell code from data; they are counted whole. Busybox has none, and is followed from its entry
// along branches and calls. The A32 code is that of the port for Armv5 (armel), whose exclusives are in the kernel's helpers.
//
// What the machines wrote is kept in the directory that GOTAP_CONSOLES names, if it is set.
//
// There are no threads here but those of QEMU, and nothing is shared between two machines.
package armtest
