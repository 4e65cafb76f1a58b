package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"gotap/cmd/gotap/status"
	"gotap/engine/testenv"
	"gotap/samples"
)

// beyondDemo are the samples about what the demonstration does not have, each with what it says then.
var beyondDemo = map[string]string{
	"node": "node", "postgres": "postgres", "pycalls": "python", "redis": "Redis", "sqlite": "sqlite", "tls": "libssl", "usdt": "python:function__entry",
	"linetimes": "needs debug information",
}

// demoFlags are flags without which a sample does not run.
var demoFlags = map[string][]string{"inject": {"--unsafe"}}

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

// onDemo runs a sample on the demonstration for some time and returns its records and all that it wrote.
func onDemo(t *testing.T, name, lasts string) (records []map[string]any, said string, failed error) {
	t.Helper()
	var out, errs bytes.Buffer
	args := append([]string{"run", "-q", "-T", lasts, "-f", "json", "-o", "-"}, demoFlags[name]...)
	cmd := exec.Command("gotap", append(args, name)...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	failed = cmd.Run()
	for line := range strings.Lines(out.String()) {
		var r map[string]any
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%s%v", line, err)
		}
		records = append(records, r)
	}
	return records, errs.String() + out.String(), failed
}

// TestSamplesOnDemonstration runs samples without a target: each shows something of the demonstration, or says what it
// lacks.
func TestSamplesOnDemonstration(t *testing.T) {
	testenv.Require(t, testenv.Ptrace, testenv.AMD64)
	all, err := samples.All()
	if err != nil {
		t.Fatal(err)
	}
	all = slices.DeleteFunc(all, func(s samples.Sample) bool { return s.Topic == "kernels" })
	if len(all) < 35 {
		t.Errorf("there are only %d samples", len(all))
	}
	for _, s := range all {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			if s.Name == "varwatch" {
				testenv.Require(t, testenv.Watched)
			}
			if lacks, beyond := beyondDemo[s.Name]; beyond {
				if _, said, _ := onDemo(t, s.Name, "100ms"); !strings.Contains(said, lacks) {
					t.Errorf("it does not say that there is no %s:\n%s", lacks, said)
				}
				return
			}
			said := ""
			for _, lasts := range []string{"1s", "4s", "30s"} { // on a busy machine the demonstration may not have done everything in the first second
				records, text, failed := onDemo(t, s.Name, lasts)
				var exit *exec.ExitError
				if failed != nil && !(errors.As(failed, &exit) && exit.ExitCode() == status.NoProbe) {
					t.Fatalf("%v:\n%s", failed, text)
				}
				if failed == nil && slices.ContainsFunc(records, shows) {
					return
				}
				said = text
			}
			t.Errorf("nothing to see:\n%s", said)
		})
	}
}
