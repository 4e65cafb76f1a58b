// Guest is the first process of a test machine. Package armtest describes it.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// mounts are the usual file systems of Linux.
var mounts = []struct{ kind, at string }{
	{"proc", "/proc"}, {"sysfs", "/sys"}, {"devtmpfs", "/dev"}, {"tmpfs", "/tmp"}, {"tmpfs", "/dev/shm"},
}

func main() {
	signal.Ignore(syscall.SIGHUP)
	for _, m := range mounts {
		os.MkdirAll(m.at, 0o755)
		if err := syscall.Mount(m.kind, m.at, m.kind, 0, ""); err != nil && !errors.Is(err, syscall.EBUSY) {
			fmt.Printf("guest: cannot mount %s: %v\n", m.at, err)
		}
	}
	go reap()
	text, err := os.ReadFile("/commands")
	if err != nil {
		fmt.Println("guest:", err)
	}
	status := 0
	for line := range strings.Lines(string(text)) {
		status = max(status, run(strings.TrimSpace(line)))
	}
	fmt.Printf("\ngotap guest done: %d\n", status)
	if err := unix.IoctlSetInt(int(os.Stdout.Fd()), unix.TCSBRK, 1); err != nil { // wait until the console, which is slow, has written it
		fmt.Printf("guest: %v\n", err)
		time.Sleep(time.Second)
	}
	syscall.Reboot(syscall.LINUX_REBOOT_CMD_POWER_OFF)
}

// reap switches the machine off at a SIGTERM. It does not wait for orphans: waiting for any child would take exit
// statuses from those who wait for their own children, and the machine does not run for long.
func reap() {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGTERM)
	<-c
	syscall.Reboot(syscall.LINUX_REBOOT_CMD_POWER_OFF)
}

// run runs one command. Leading words with a "=" are its environment.
func run(line string) int {
	if line == "" {
		return 0
	}
	words := strings.Fields(line)
	env := []string{"PATH=/bin", "HOME=/tmp", "TMPDIR=/tmp", "GOGC=off", "GOMEMLIMIT=400MiB"} // there is memory, but little processor time
	for len(words) > 1 && strings.Contains(words[0], "=") && !strings.HasPrefix(words[0], "/") {
		env, words = append(env, words[0]), words[1:]
	}
	fmt.Printf("guest: %s\n", line)
	began := time.Now()
	err := start(words, env)
	fmt.Printf("guest: took %.1f s: %v\n", time.Since(began).Seconds(), err)
	if err != nil {
		return 1
	}
	return 0
}

// start runs a command, a program or the built-in one, and waits for its end.
func start(words, env []string) error {
	if words[0] == killedWord && len(words) > 2 {
		return killed(words[1], words[2:], slices.Contains(env, inlineWord))
	}
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = env, nil, os.Stdout, os.Stderr
	return cmd.Run()
}
