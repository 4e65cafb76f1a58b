package gotap_test

import (
	"context"
	"fmt"

	"gotap"
)

// The result names everything that is missing from the data. Here the map has room for one key and meets two.
func Example_losses() {
	script := gotap.Script{Name: "sizes.js", Text: `
		const sizes = count("sizes", { keys: 1, max: 1 });
		probe("syscall:write", c => sizes.at(c.arg2).inc());`}
	result, err := gotap.Run(context.Background(), script, gotap.Options{
		Command: []string{"sh", "-c", "exec >/dev/null; echo one; echo two; echo three"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, entry := range result.Maps["sizes"].Entries {
		fmt.Println(entry.Data.Int, "writes of", entry.Key[0].Int, "bytes")
	}
	for cause, n := range result.Lost {
		fmt.Println("lost", n, "by", cause)
	}
	// Output:
	// 2 writes of 4 bytes
	// lost 1 by count sizes full: more keys than its max
}
