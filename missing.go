package gotap

import (
	"errors"
	"fmt"

	"gotap/compile/diag"
	"gotap/engine/image/debuginfo"
)

// MissingWarnings warns of files with debug information that are missing, with one warning for each module, and of
// patterns that mean inlined functions of the main program.
func MissingWarnings(missing []error) (list diag.List) {
	more := map[string]int{} // further files of a module
	var first []*debuginfo.MissingError
	for _, err := range missing {
		var m *debuginfo.MissingError
		if !errors.As(err, &m) {
			list = append(list, diag.Diagnostic{Severity: diag.Warning, Text: err.Error(), Hint: hintOf(err)})
			continue
		}
		if _, known := more[m.Module]; known {
			more[m.Module]++
			continue
		}
		more[m.Module] = 0
		first = append(first, m)
	}
	for _, m := range first {
		text := m.Error()
		if n := more[m.Module]; n > 0 {
			text += fmt.Sprintf("; %s more cannot be used either", plural(n, "file"))
		}
		list = append(list, diag.Diagnostic{Severity: diag.Warning, Text: text,
			Hint: "without it the arguments, types and inlined calls that it describes are unknown"})
	}
	return list
}
