package gotap_test

import (
	"fmt"

	"gotap"
)

// A Go program compiles a script without a target: it gets the programs, or an error as from Open.
func Example_check() {
	script := gotap.Script{Name: "writes.js", Text: `
		const written = sum("written");
		probe("libc:write", {
			enter(c) { written.add(c.arg2); },
			leave(c) { written.add(0); },
		});`}
	checked, err := gotap.Check(script, gotap.CheckOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer checked.Close()
	for _, p := range checked.Programs {
		fmt.Println(p.Title)
	}

	change := gotap.Script{Name: "zero.js", Text: `probe("libc:write", c => { write.u8(c.arg1, 0); });`}
	_, err = gotap.Check(change, gotap.CheckOptions{})
	fmt.Println("needs Unsafe:", gotap.NeedsUnsafe(err))
	// Output:
	// libc:write enter
	// libc:write leave
	// needs Unsafe: true
}
