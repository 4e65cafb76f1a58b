package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// killedWord begins the command that killed is: a script and a victim with its arguments follow.
const killedWord = "killed"

// killed starts a victim, attaches gotap with a script, kills the session process when all is armed, and looks whether its
// supervisor has left nothing behind and the victim finds that it is unharmed.
func killed(script string, victim []string) error {
	target := exec.Command(victim[0], victim[1:]...)
	hand, err := target.StdinPipe()
	if err != nil {
		return err
	}
	ear, err := target.StdoutPipe()
	if err != nil {
		return err
	}
	if err := target.Start(); err != nil {
		return err
	}
	lines := bufio.NewReader(ear)
	if _, err := lines.ReadString('\n'); err != nil {
		return fmt.Errorf("%s does not begin: %w", victim[0], err)
	}
	pid := strconv.Itoa(target.Process.Pid)
	if err := killSession(script, pid); err != nil {
		return err
	}
	out, err := exec.Command("/bin/gotap", "clean", pid).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "nothing to restore") {
		return fmt.Errorf("gotap clean: %w: %s", err, out)
	}
	hand.Write([]byte("x"))
	said, _ := io.ReadAll(lines)
	fmt.Printf("killed: %s", said)
	return target.Wait()
}

// killSession runs gotap on a process, kills its session when that is ready, and waits for the supervisor's end.
func killSession(script, pid string) error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	supervisor := exec.Command("/bin/gotap", "run", "-q", "-p", pid, "--ready-fd", "3", script)
	supervisor.ExtraFiles = []*os.File{w}
	supervisor.Stderr = os.Stderr
	if err := supervisor.Start(); err != nil {
		return err
	}
	w.Close()
	if line, err := bufio.NewReader(r).ReadString('\n'); err != nil {
		return fmt.Errorf("gotap is not ready but says %q: %w", line, err)
	}
	session, err := childOf(supervisor.Process.Pid)
	if err != nil {
		return err
	}
	syscall.Kill(session, syscall.SIGKILL)
	supervisor.Wait() // with a status of its own
	return nil
}

// childOf is the only child of a process, whichever of its threads has started it.
func childOf(pid int) (int, error) {
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return 0, err
	}
	for _, t := range threads {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, t.Name()))
		if fields := strings.Fields(string(text)); len(fields) > 0 {
			return strconv.Atoi(fields[0])
		}
	}
	return 0, errors.New("gotap has no session")
}
