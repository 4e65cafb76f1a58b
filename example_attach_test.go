package gotap_test

import (
	"context"
	"fmt"
	"os/exec"
	"time"

	"gotap"
)

// A Go program attaches to a process, stops tracing when the script has seen enough or after ten seconds, and reads a
// map. The process goes on.
func Example_attach() {
	target := exec.Command("sh", "-c", "while :; do echo tick; sleep 0.01; done")
	if err := target.Start(); err != nil {
		fmt.Println(err)
		return
	}
	defer target.Wait()
	defer target.Process.Kill()

	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	script := gotap.Script{Name: "writes.js", Text: `
		const written = sum("written", { keys: 1 });
		let writes = 0;
		probe("syscall:write", {
			limit: 3,
			enter(c) { written.at(c.arg0).add(c.arg2); exit({}); },
			exit(e) { if (++writes === 3) stop(); },
		});`}
	result, err := gotap.Run(ctx, script, gotap.Options{Pids: []int{target.Process.Pid}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, entry := range result.Maps["written"].Entries {
		fmt.Println("descriptor", entry.Key[0].Int, "got", entry.Data.Int, "bytes")
	}
	fmt.Println("the process has ended:", result.Targets[0].Ended)
	// Output:
	// descriptor 1 got 15 bytes
	// the process has ended: false
}
