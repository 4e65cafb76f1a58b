package engine

import (
	"errors"
	"fmt"
	"os"

	"gotap/engine/linux/permission"
)

// explainDenied returns an error that explains why the kernel does not permit attaching to a process, and what would
// help.
func explainDenied(pid int, err error) error {
	e := &AttachError{Pid: pid, Err: err}
	if !errors.Is(err, os.ErrPermission) {
		return e
	}
	why, help := permission.ToAttach(pid, err)
	if e.help = help; why != "" {
		e.Err = fmt.Errorf("%s: %w", why, err)
	}
	return e
}

// warnPrivileges warns about a program that runs with fewer privileges than its file would give it.
func warnPrivileges(s *Session, path string) {
	if permission.LosesPrivileges(path) {
		s.warn(path + " is set-uid or set-gid and runs without these privileges, since it is traced by a user who has none: run gotap as root")
	}
}
