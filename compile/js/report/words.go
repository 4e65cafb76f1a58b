package report

import (
	"fmt"
	"strings"
)

// Count is "1 thing" or "3 things".
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// List is "a, b, c".
func List(names []string) string { return strings.Join(names, ", ") }
