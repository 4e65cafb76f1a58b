package js

import (
	"errors"
	"strconv"
	"strings"
)

// ParseNumber reads a number literal. Integers up to 2^64-1 are taken; from 2^63 on they wrap.
func ParseNumber(s string) (v uint64, f float64, isFloat, ok bool) {
	digits := strings.ToLower(strings.ReplaceAll(s, "_", ""))
	digits = strings.TrimSuffix(digits, "n")
	if len(digits) > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9' && !strings.ContainsAny(digits, "89.e") {
		digits = "0o" + digits[1:]
	}
	if len(digits) > 1 && digits[0] == '0' && strings.ContainsRune("xob", rune(digits[1])) {
		v, err := strconv.ParseUint(digits, 0, 64)
		return v, 0, false, err == nil
	}
	if !strings.ContainsAny(digits, ".e") {
		v, err := strconv.ParseUint(digits, 10, 64)
		return v, 0, false, err == nil
	}
	f, err := strconv.ParseFloat(digits, 64)
	return 0, f, true, err == nil || errors.Is(err, strconv.ErrRange) // 1e999 is Infinity
}

// IsFloat reports whether a number of the text is a float in programs, from how it is written.
func IsFloat(literal string) bool {
	_, _, isFloat, ok := ParseNumber(literal)
	return isFloat && ok
}
