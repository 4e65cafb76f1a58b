package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"gotap/engine/testenv"
	"gotap/samples"
)

// beyondDemo are the samples about programs that the demonstration is not: each says at the end what its target needs, or there is
// nothing to say.
var beyondDemo = map[string]string{
	"node": "node", "postgres": "postgres", "pycalls": "python", "redis": "redis", "sqlite": "sqlite", "tls": "libssl", "usdt": "", "locks": "pthread_mutex_lock",
	"inject": "", "retfail": "", "whythefail": "", "varwatch": "", "linetimes": "", "coverage": "", "argdist": "", "watchdog": "", "lastfrees": "", "bigblocks": "",
}

// shows reports whether a record has something to see: an event, a row, a value that was counted.
func shows(record map[string]any) bool {
	switch record["type"] {
	case "event", "map", "hist":
		return true
	case "table":
		rows, _ := record["rows"].([]any)
		return len(rows) > 0
	case "print":
		text, _ := record["text"].(string)
		return strings.TrimSpace(text) != ""
	}
	return false
}

// TestSamplesOnDemonstration runs samples without a target: each shows something of the demonstration, or says what it lacks.
func TestSamplesOnDemonstration(t *testing.T) {
	testenv.Require(t, testenv.Ptrace, testenv.AMD64)
	all, err := samples.All()
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, s := range all {
		lacks, beyond := beyondDemo[s.Name]
		if s.Topic == "kernels" || beyond && lacks == "" {
			continue
		}
		ran++
		t.Run(s.Name, func(t *testing.T) {
			var out, errs bytes.Buffer
			cmd := exec.Command("gotap", "run", "-q", "-f", "json", "-o", "-", s.Name)
			cmd.Stdout, cmd.Stderr = &out, &errs
			var failed *exec.ExitError
			if err := cmd.Run(); err != nil && !errors.As(err, &failed) {
				t.Fatal(err)
			}
			var records []map[string]any
			for line := range strings.Lines(out.String()) {
				var r map[string]any
				if err := json.Unmarshal([]byte(line), &r); err != nil {
					t.Fatalf("%s%v", line, err)
				}
				records = append(records, r)
			}
			if said := errs.String() + out.String(); beyond {
				if !strings.Contains(said, lacks) {
					t.Errorf("it does not say that there is no %s:\n%s", lacks, said)
				}
			} else if !slices.ContainsFunc(records, shows) || failed != nil {
				t.Errorf("nothing to see (%v):\n%s%s", failed, errs.String(), out.String())
			}
		})
	}
	if ran < 20 {
		t.Errorf("only %d samples ran", ran)
	}
}
