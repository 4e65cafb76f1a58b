package testenv

// What the tests of 64-bit ARM need on any host.
const (
	GCCARM64     Need = "aarch64-linux-gnu-gcc"
	ObjdumpARM64 Need = "aarch64-linux-gnu-objdump"
	QEMUARM64    Need = "qemu-aarch64"
)
