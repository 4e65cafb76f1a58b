package armtest

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// Done begins the last line of the guest's output; the exit status of its commands follows.
const Done = "gotap guest done: "

// Boot boots a machine with a kernel and an initramfs, and returns its console output when it has switched itself off.
// The machine has one processor, because QEMU runs threads that take turns faster on one than on several.
func (m Machine) Boot(kernel, image string, patience time.Duration) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, m.QEMU, "-M", "virt", "-cpu", m.CPU, "-m", "1024", "-nographic", "-no-reboot", "-nic", "none",
		"-kernel", kernel, "-initrd", image, "-append", "console=ttyAMA0 quiet panic=-1")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	text := strings.ReplaceAll(out.String(), "\r", "")
	if ctx.Err() != nil {
		return text, fmt.Errorf("the machine did not switch itself off within %v", patience)
	}
	return text, err
}
