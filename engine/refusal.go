package engine

import "gotap/engine/linux/permission"

// warnPrivileges warns about a program that runs with fewer privileges than its file would give it.
func warnPrivileges(s *Session, path string) {
	if permission.LosesPrivileges(path) {
		s.warn(path + " is set-uid or set-gid and runs without these privileges, since it is traced by a user who has none: run gotap as root")
	}
}
