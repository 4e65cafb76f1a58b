// Package armtest runs gotap's tests of real processes on ARM: on Debian's kernels for 32-bit and 64-bit ARM, in
// machines that QEMU emulates.
//
// # A run from start to end
//
// Go builds the tests of package engine, and gotap, for the machine. A cross compiler builds the programs that the
// tests trace: A32, Thumb and A64, static and with shared libraries. All of them go into an initramfs (cpio.go).
// Its first process is the program in folder guest, which mounts the usual file systems, runs the commands that the
// image lists, and switches the machine off. Boot returns the console output, and a test searches it for the
// results.
//
// Most of a machine's time goes into switches between the session and its target, because QEMU forgets translated
// addresses at each. Kernels and their options are chosen to have no more of them than that (boot.go, kernel.go), and
// targets whose threads run all the time have a lower priority than the session.
//
// The kernels come from Debian's packages, which apt downloads and which are unpacked, not installed (kernel.go).
// They stay in the user's cache directory, so only the first run needs a network.
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
// The libraries have symbols that distinguish code from data, and are counted completely. Busybox has none, so the
// count follows branches and calls from its entry. The A32 code is that of the port for Armv5 (armel), whose
// exclusives are in the kernel's helpers.
//
// If GOTAP_CONSOLES names a directory, the tests write the console output of the machines there.
//
// # Threads
//
// The package starts no threads except those of QEMU. Machines share only the downloaded kernels, which a lock
// protects.
package armtest
