package gotap_test

import (
	"context"
	"fmt"
	"os/exec"
	"time"

	"gotap"
)

// A session can be asked and changed while it runs: this one reads a counter, adds a second script, and ends.
func Example_session() {
	target := exec.Command("sh", "-c", "while :; do echo tick; sleep 0.01; done")
	if err := target.Start(); err != nil {
		fmt.Println(err)
		return
	}
	defer target.Wait()
	defer target.Process.Kill()

	script := gotap.Script{Name: "writes.js", Text: `
		const writes = count("writes");
		probe("syscall:write", c => writes.inc());`}
	session, err := gotap.Open(context.Background(), script, gotap.Options{Pids: []int{target.Process.Pid}})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err = session.Arm(); err == nil {
		err = session.Start()
	}
	if err == nil {
		go change(session)
		err = session.Wait()
	}
	result, closeErr := session.Close() // in any state, so that no probe stays in the target
	if err != nil || closeErr != nil {
		fmt.Println(err, closeErr)
		return
	}
	fmt.Println("probes:", len(result.Probes), "counted:", result.Count("writes") > 0)
	// Output:
	// inserted reads.js: 1 probe at 1 place
	// probes: 2 counted: true
}

// change waits for the first write, inserts a script, and stops the session.
func change(session *gotap.Session) {
	defer session.Stop()
	for written := int64(0); written == 0; time.Sleep(10 * time.Millisecond) {
		values, err := session.Control().Values(false)
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, v := range values {
			if v.Object.Name == "writes" && len(v.Entries) > 0 {
				written = v.Entries[0].Data.Int
			}
		}
	}
	notes, err := session.Control().Insert(gotap.Insertion{Script: gotap.Script{Name: "reads.js", Text: `
		const reads = count("reads");
		probe("syscall:read", c => reads.inc());`}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(notes[0])
}
