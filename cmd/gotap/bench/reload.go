package bench

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// reloadScript counts hits. A save changes the version, and adds or removes a probe.
const reloadScript = "let hits = 0;\nprobe(\"work\", c => { hits++; });\nprobe(\"work\", c => { if (c.arg0 < -%d) hits = 0; });\n"

// reloads is how many saves the median is of, in three rounds or more.
const reloads = 7

// reload measures --watch: from the moment a script is saved to that in which its new version is armed, while the
// program hits the probe without pause.
func (b bench) reload() error {
	dir, err := os.MkdirTemp("", "gotap-reload-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "watched.js")
	save := func(version int) error {
		text := fmt.Sprintf(reloadScript, version)
		if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
			return err
		}
		return os.Rename(path+".new", path)
	}
	if err := save(1); err != nil {
		return err
	}
	const calls = "1000000000000" // for hours: the end of the session ends the program
	cmd := exec.Command(b.exe, "run", "-w", path, "--", b.program, "target", calls)
	status, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("cannot measure reloads: %w", err)
	}
	lines := bufio.NewScanner(status)
	took, err := b.timeReloads(lines, save)
	cmd.Process.Signal(syscall.SIGINT)
	for lines.Scan() { // the session could block on a full pipe
	}
	if end := cmd.Wait(); err == nil && end != nil {
		err = fmt.Errorf("cannot measure reloads: %w", end)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(b.out, "%-42s %9.0f ms, %.0f of them to see that the editor is done\n", "--watch: from save to armed, under fire", median(took), b.o.Settle.Seconds()*1e3)
	return nil
}

// timeReloads saves a few times, and reads from the session's status when each was taken over, in milliseconds.
func (b bench) timeReloads(status *bufio.Scanner, save func(version int) error) (took []float64, err error) {
	await := func(what string) error {
		for status.Scan() {
			if strings.Contains(status.Text(), what) {
				return nil
			}
		}
		return fmt.Errorf("cannot measure reloads: the session ended without %s", strconv.Quote(what))
	}
	if err := await("2 probes at 2 places"); err != nil {
		return nil, err
	}
	time.Sleep(2 * b.o.Settle) // the watch begins after that line
	for version := range min(reloads, 2*b.o.Rounds+1) {
		began := time.Now()
		if err := save(version + 2); err != nil {
			return nil, err
		}
		if err := await("reloaded"); err != nil {
			return nil, err
		}
		took = append(took, time.Since(began).Seconds()*1e3)
	}
	return took, nil
}
