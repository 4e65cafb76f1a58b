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
	"time"
)

// killedWord is the name of the command that killed implements. Its arguments are a script, a victim and the
// victim's arguments.
const killedWord = "killed"

// inlineWord in front of it asks for a session whose programs run inside the victim. It is killed when the victim has
// the memory for them.
const inlineWord = "ENGINE=inline"

// killed starts a victim, attaches gotap with a script and kills the session process when all probes are placed. It
// checks that the supervisor has restored everything and that the victim is unharmed.
func killed(script string, victim []string, inline bool) error {
	target := exec.Command(victim[0], victim[1:]...)
	stdin, err := target.StdinPipe()
	if err != nil {
		return err
	}
	stdout, err := target.StdoutPipe()
	if err != nil {
		return err
	}
	if err := target.Start(); err != nil {
		return err
	}
	syscall.Setpriority(syscall.PRIO_PROCESS, target.Process.Pid, 19) // its threads run all the time, on the only processor
	lines := bufio.NewReader(stdout)
	if _, err := lines.ReadString('\n'); err != nil {
		return fmt.Errorf("cannot start %s: %w", victim[0], err)
	}
	pid := strconv.Itoa(target.Process.Pid)
	if err := killSession(script, pid, inline); err != nil {
		return err
	}
	out, err := exec.Command("/bin/gotap", "clean", pid).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "nothing to restore") {
		return fmt.Errorf("gotap clean: %w: %s", err, out)
	}
	stdin.Write([]byte("x"))
	output, _ := io.ReadAll(lines)
	fmt.Printf("killed: %s", output)
	return target.Wait()
}

// killSession runs gotap on a process, kills the session when it is ready, and waits until the supervisor ends.
func killSession(script, pid string, inline bool) error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	supervisor := exec.Command("/bin/gotap", "run", "-q", "-p", pid, "--ready-fd", "3", script)
	if inline {
		supervisor.Args = append(supervisor.Args, "--engine", "inline")
	}
	supervisor.ExtraFiles = []*os.File{w}
	supervisor.Stderr = os.Stderr
	if err := supervisor.Start(); err != nil {
		return err
	}
	w.Close()
	if line, err := bufio.NewReader(r).ReadString('\n'); err != nil {
		return fmt.Errorf("gotap reported %q instead of being ready: %w", line, err)
	}
	for inline {
		if maps, _ := os.ReadFile("/proc/" + pid + "/maps"); strings.Contains(string(maps), "gotap-arena") {
			break
		}
		time.Sleep(time.Millisecond)
	}
	session, err := childOf(supervisor.Process.Pid)
	if err != nil {
		return err
	}
	syscall.Kill(session, syscall.SIGKILL)
	supervisor.Wait() // its status does not matter
	return nil
}

// childOf returns the only child of a process. Any of its threads may have started it.
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
