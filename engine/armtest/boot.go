package armtest

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// Done begins the last line of the guest's output; the exit status of its commands follows.
const Done = "gotap guest done: "

// kernelOptions are for the kernel. They switch its defences against Meltdown and Spectre off, which would be emulated
// as well: with separate page tables for the kernel (kpti), which a random base of the kernel (kaslr) entails, QEMU
// empties its translation cache at each system call. Traced programs do not see any of it.
const kernelOptions = "console=ttyAMA0 quiet panic=-1 nokaslr kpti=off mitigations=off init_on_alloc=0 hardened_usercopy=off lsm= audit=0 cgroup_disable=memory randomize_kstack_offset=off"

// clock makes the machine's time a function of the instructions that it has executed, two nanoseconds each. Where it
// idles, its time jumps to the next timer: waiting costs nothing, and on a busy host the time limits of tests do not
// run out while the machine itself gets no processor time. Without it, QEMU's thread for timers and that of the
// processor also wake each other thousands of times a second, which takes a third of all processor time.
const clock = "shift=1,sleep=off"

// Boot boots a machine with a kernel and an initramfs, and returns its console output when it has switched itself off.
// The machine has one processor, because QEMU runs threads that take turns faster on one than on several.
func (m Machine) Boot(kernel, image string, patience time.Duration) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, m.QEMU, "-M", "virt", "-cpu", m.CPU, "-m", "1024", "-nographic", "-no-reboot", "-nic", "none",
		"-icount", clock, "-kernel", kernel, "-initrd", image, "-append", kernelOptions)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Start()
	if err == nil {
		// Each machine is one thread, and the longest of all tests: what else runs waits for it rather than it for
		// them. Only root may do so, and without it the tests take longer.
		syscall.Setpriority(syscall.PRIO_PROCESS, cmd.Process.Pid, -5)
		err = cmd.Wait()
	}
	text := strings.ReplaceAll(out.String(), "\r", "")
	if ctx.Err() != nil {
		return text, fmt.Errorf("the machine did not switch itself off within %v", patience)
	}
	return text, err
}
