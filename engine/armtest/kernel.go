package armtest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"gotap/engine/testenv"
)

// Machine is a kind of machine that QEMU emulates, with the Debian kernel that it boots.
type Machine struct {
	Debian string // Debian's name of the architecture
	Kernel string // package of the kernel
	QEMU   string
	CPU    string
	Go     []string // environment that builds for it
}

// The test machines. Debian's other kernel for 32-bit ARM, armmp, protects itself from programs by the rights of memory
// domains, which it changes at each entry and exit. QEMU then empties its translation cache, and traced programs take
// twice as long. The page tables of armmp-lpae have no domains.
var (
	ARM = Machine{"armhf", "linux-image-armmp-lpae", "qemu-system-arm", "cortex-a15",
		[]string{"GOARCH=arm", "GOARM=7"}}
	ARM64 = Machine{"arm64", "linux-image-arm64", "qemu-system-aarch64", "cortex-a57",
		[]string{"GOARCH=arm64"}}
)

// Needs returns the tools that building for the machine and booting it require.
func (m Machine) Needs() []testenv.Need {
	needs := []testenv.Need{testenv.Need(m.QEMU), testenv.GCCARM, testenv.DpkgDeb}
	if m.Debian == "arm64" {
		needs = append(needs, testenv.GCCARM64)
	}
	return needs
}

// cacheDir returns the directory that holds kernels between runs.
func cacheDir() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(base, "gotap-kernels")
	return dir, os.MkdirAll(dir, 0o755)
}

// fetching serializes KernelFile: machines that start together may need the same kernel.
var fetching sync.Mutex

// KernelFile returns the path of a kernel for the machine. The first call downloads Debian's package with apt and
// unpacks it. It may be called from any goroutine.
func (m Machine) KernelFile() (string, error) {
	fetching.Lock()
	defer fetching.Unlock()
	dir, err := cacheDir()
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "vmlinuz-"+strings.TrimPrefix(m.Kernel, "linux-image-"))
	if _, err := os.Stat(file); err == nil {
		return file, nil
	}
	a := apt{dir: dir, debian: m.Debian}
	deb, err := a.download(m.Kernel)
	if err != nil {
		return "", fmt.Errorf("cannot fetch a kernel for %s: %w", m.Debian, err)
	}
	defer os.Remove(deb)
	return file, unpackKernel(deb, dir, file)
}

// apt downloads packages of a foreign architecture. It uses package lists of its own and does not change those of
// the host.
type apt struct{ dir, debian string }

// command returns a command of apt that works in the cache directory.
func (a apt) command(name string, args ...string) *exec.Cmd {
	base := filepath.Join(a.dir, "apt-"+a.debian)
	os.MkdirAll(filepath.Join(base, "lists", "partial"), 0o755)
	os.MkdirAll(filepath.Join(base, "cache", "archives", "partial"), 0o755)
	config := filepath.Join(base, "apt.conf")
	os.WriteFile(config, fmt.Appendf(nil, `Dir::State %q;
Dir::State::Lists %q;
Dir::State::status "/dev/null";
Dir::Cache %q;
APT::Architecture %q;
APT::Architectures { %q; };
APT::Sandbox::User "root";
Acquire::Languages "none";
`, base, filepath.Join(base, "lists"), filepath.Join(base, "cache"), a.debian, a.debian), 0o644)
	cmd := exec.Command(name, args...)
	cmd.Dir = a.dir
	cmd.Env = append(os.Environ(), "APT_CONFIG="+config, "LC_ALL=C")
	return cmd
}

// download downloads the package of a name and returns its path. For the name of a kernel without a version, that
// is the newest kernel, on which the package depends.
func (a apt) download(name string) (string, error) {
	update, _ := a.command("apt-get", "update", "-q").CombinedOutput() // a list may fail without consequence
	depends, err := a.command("apt-cache", "depends", name).Output()
	if err != nil {
		return "", fmt.Errorf("apt-cache depends %s: %w\n%s", name, err, update)
	}
	if versioned := regexp.MustCompile(`Depends: (linux-image-[0-9]\S*)`).FindSubmatch(depends); versioned != nil {
		name = string(versioned[1])
	}
	name, _, _ = strings.Cut(name, ":")
	if out, err := a.command("apt-get", "download", name).CombinedOutput(); err != nil {
		return "", fmt.Errorf("apt-get download %s: %w\n%s", name, err, out)
	}
	found, _ := filepath.Glob(filepath.Join(a.dir, name+"_*.deb"))
	if len(found) == 0 {
		return "", errors.New("apt-get download produced no package")
	}
	return found[len(found)-1], nil
}

// unpackKernel extracts the kernel's image from a package.
func unpackKernel(deb, dir, file string) error {
	tmp, err := os.MkdirTemp(dir, "unpack-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	var out bytes.Buffer
	cmd := exec.Command("sh", "-c", `dpkg-deb --fsys-tarfile "$1" | tar -x -C "$2" --wildcards './boot/vmlinuz*'`, "sh", deb, tmp)
	cmd.Stderr = &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("cannot unpack %s: %w\n%s", deb, err, &out)
	}
	found, _ := filepath.Glob(filepath.Join(tmp, "boot", "vmlinuz*"))
	if len(found) == 0 {
		return fmt.Errorf("cannot unpack %s: it has no kernel", deb)
	}
	return os.Rename(found[0], file)
}
