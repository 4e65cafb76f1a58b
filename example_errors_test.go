package gotap_test

import (
	"context"
	"errors"
	"fmt"

	"gotap"
)

// An error has a kind. An error about the script has diagnostics with a position, and often a hint.
func Example_errors() {
	script := gotap.Script{Name: "wrong.js", Text: `
		probe("syscall:write", {
			enter(c) { new Map(); },
		});`}
	_, err := gotap.Run(context.Background(), script, gotap.Options{Command: []string{"true"}})

	var failure *gotap.Error
	if errors.As(err, &failure) && failure.Kind == gotap.BadScript {
		fmt.Println("the script is wrong")
	}
	var problems gotap.Diagnostics
	if errors.As(err, &problems) {
		for _, p := range problems {
			fmt.Printf("%s:%d: %s\n", script.Name, p.Span.Source.Position(p.Span.Start).Line, p.Text)
			fmt.Println("hint:", p.Hint)
		}
	}
	// Output:
	// the script is wrong
	// wrong.js:3: new cannot be used in a program
	// hint: declare a map(), an aggregation or a variable at the top level, or do it in a callback
}
