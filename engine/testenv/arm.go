package testenv

// What the tests of 32-bit ARM need on any host.
const (
	GCCARM     Need = "arm-linux-gnueabihf-gcc"
	ObjdumpARM Need = "arm-linux-gnueabihf-objdump"
	QEMUARM    Need = "qemu-arm"
	GDBMulti   Need = "gdb-multiarch"
)
