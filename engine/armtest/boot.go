package armtest

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// Done is the line that the guest ends with, followed by the exit status of its command.
const Done = "gotap guest done: "

// Boot boots a machine of one processor, which TCG runs faster than several when threads take turns as here,
// with a kernel and an initramfs, and returns what it writes to its console until it switches itself off.
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
		return text, fmt.Errorf("the machine did not end within %v", patience)
	}
	return text, err
}
