package remote

import (
	"fmt"

	"gotap/engine/remote/rsp"
)

// Clean lets a stub's target go on after a session that was killed. The stub has kept its breakpoints, and the target stops at the
// next one until somebody comes: QEMU's system emulation and gdbserver take another connection, and take their breakpoints out when
// it detaches. Breakpoints that the session wrote itself, which Config.Patched told, are nothing that a stub knows of: then the
// target must not be let go. QEMU's user emulation takes no second connection, and ends its program with SIGTRAP at the next
// breakpoint.
func Clean(address string) error {
	client, err := rsp.Dial(address)
	if err != nil {
		return dialError(address, err)
	}
	if err := client.Detach(client.Current()); err != nil {
		return fmt.Errorf("cannot let the target of %s go on: %w", address, err)
	}
	return nil
}
