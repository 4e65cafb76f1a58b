package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
)

// floodScript has an event at every hit, of some size, and a callback that is slower than the hits, so that the ring
// fills, which holds some thousands of these events.
const floodScript = `let hits = 0, seen = 0;
probe("work", { enter(c) { hits++; exit({ i: c.arg0, regs: bytes(c.sp, 512), text: c.comm }); }, exit(e) { seen++; for (let k = 0; k < 3000; k++); } });
end(() => console.log(hits, seen));`

// flood measures the memory of gotap under events that come faster than callbacks take them, and checks that each is
// delivered or counted as lost: the most that the session took, as the kernel counts it.
func (b bench) flood() error {
	data, err := os.CreateTemp("", "gotap-flood-")
	if err != nil {
		return err
	}
	defer os.Remove(data.Name())
	defer data.Close()
	cmd := exec.Command(b.exe, "run", "-q", "-f", "json", "-o", data.Name(), "-e", floodScript, "--", b.program, "target", "15000")
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("cannot measure a flood: %w", err)
	}
	out, err := io.ReadAll(data)
	if err != nil {
		return err
	}
	hits, seen, lost, err := readFlood(out)
	if err != nil {
		return err
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return errors.New("cannot measure a flood: the system does not tell the memory of a process that has ended")
	}
	fmt.Fprintf(b.out, "%-42s %9.0f MB at most: %.0f events, %.0f delivered, %.0f lost and reported, %.0f unaccounted\n",
		"a flood of events, slow callbacks", float64(usage.Maxrss)/1024, hits, seen, lost, hits-seen-lost)
	return nil
}

// readFlood reads what the script printed and what was lost from the records of a run.
func readFlood(out []byte) (hits, seen, lost float64, err error) {
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var r struct {
			Type, Text string
			Value      float64
		}
		if err := d.Decode(&r); err != nil {
			return 0, 0, 0, fmt.Errorf("cannot read the records of a flood: %w", err)
		}
		switch r.Type {
		case "lost":
			lost += r.Value
		case "print":
			if _, err := fmt.Sscan(r.Text, &hits, &seen); err != nil {
				return 0, 0, 0, fmt.Errorf("cannot read the counts of a flood: %w", err)
			}
		}
	}
	return hits, seen, lost, nil
}
