package gotap_test

import (
	"context"
	"fmt"

	"gotap"
)

// A Go program runs a script on a command: it gets events, what the script has counted, and losses.
func Example() {
	script := gotap.Script{Name: "ends.js", Text: `
		const ends = count("ends");
		probe("syscall:exit_group", { enter(c) { ends.inc(); exit({ status: c.arg0 }); } });`}
	result, err := gotap.Run(context.Background(), script, gotap.Options{
		Command: []string{"sh", "-c", "exit 3"},
		Event:   func(e gotap.Event) { fmt.Println(e.Comm, "ends with", e.Fields[0].Name, e.Fields[0].Value) },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Count("ends"), "end,", len(result.Lost), "losses, status", result.Targets[0].Status)
	// Output:
	// sh ends with status 3
	// 1 end, 0 losses, status 3
}
