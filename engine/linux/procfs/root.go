package procfs

import (
	"fmt"
	"os"
	"path"
	"regexp"
	"strings"
	"sync"
	"syscall"
)

// Root returns the root directory of a process as seen from here, or "" when the process sees the same files.
func Root(pid int) string {
	root := fmt.Sprintf("/proc/%d/root", pid)
	var theirs, ours syscall.Stat_t
	if syscall.Stat(root+"/", &theirs) != nil || syscall.Stat("/", &ours) != nil {
		return ""
	}
	// The same directory has other files in another mount namespace. Where that cannot be read, it counts as the same.
	mounts, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/mnt", pid))
	own, ownErr := os.Readlink("/proc/self/ns/mnt")
	sameMounts := err != nil || ownErr != nil || mounts == own
	if sameMounts && theirs.Dev == ours.Dev && theirs.Ino == ours.Ino {
		return ""
	}
	return root
}

// rooted matches a path below the root directory of a process.
var rooted = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(/proc/[^/]+/root)(/.*)$`) })

// InRoot splits a path below the root directory of a process, "/proc/PID/root/lib/x.so", into the root and the path
// that the process itself uses, with all symbolic links resolved as it would. ok is false for other paths. A link that
// cannot be read stays as it is.
func InRoot(name string) (root, inside string, ok bool) {
	parts := rooted().FindStringSubmatch(name)
	if parts == nil {
		return "", "", false
	}
	return parts[1], resolve(parts[1], parts[2]), true
}

// maxLinks bounds the symbolic links in a path, as the kernel does.
const maxLinks = 40

// resolve resolves the symbolic links of a path below root. Links that begin with a slash, and "..", do not leave root.
func resolve(root, name string) string {
	done, links := "/", 0
	rest := strings.Split(name, "/")
	for len(rest) > 0 {
		part := rest[0]
		rest = rest[1:]
		next := path.Join(done, part) // of "..", the parent; that of the root is the root
		to, err := os.Readlink(root + next)
		if part == "" || part == ".." || err != nil || links == maxLinks {
			done = next
			continue
		}
		if links++; path.IsAbs(to) {
			done = "/"
		}
		rest = append(strings.Split(to, "/"), rest...)
	}
	return done
}
