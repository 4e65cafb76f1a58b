package remote

import (
	"fmt"

	"gotap/engine/remote/rsp"
)

// Clean releases a stub's target after a session that was killed. The stub has kept its breakpoints, and the target
// stops at the next one until a client connects: QEMU's system emulation and gdbserver accept another connection,
// and remove their breakpoints when it detaches. A stub does not know breakpoints that the session wrote itself, as
// Config.Patched reports: then the target must not be released. QEMU's user emulation accepts no second connection,
// and ends its program with SIGTRAP at the next breakpoint.
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
