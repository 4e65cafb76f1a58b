package testenv

// What the tests of targets behind GDB stubs need.
const (
	GDBServer   Need = "gdbserver"
	QEMUAMD64   Need = "qemu-x86_64"
	QEMUI386    Need = "qemu-i386"
	QEMUSystemX Need = "qemu-system-x86_64"
	QEMUSystemA Need = "qemu-system-arm"
)
