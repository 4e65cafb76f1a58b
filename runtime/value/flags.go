package value

import (
	"strconv"
	"strings"
)

// MaxFlags is how much longer the text of flags can be than what names them: a parenthesis on both sides, and the rest
// without a name.
const MaxFlags = 32

// Flags returns what AppendFlags reads: the names of single bits, "READ=1 WRITE=2". Of several names of one bit the
// first counts.
func Flags(names []string, bits []uint64) string {
	var b strings.Builder
	for i, name := range names {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(name + "=" + strconv.FormatUint(bits[i], 10))
	}
	return b.String()
}

// AppendFlags appends the names of the bits that are set in v, as debuggers write a value of an enumeration of flags:
// (READ | WRITE), (READ | unknown: 0x10). It does not allocate if p has room.
func AppendFlags(p []byte, flags string, v uint64) []byte {
	if v == 0 {
		return append(p, '0')
	}
	lead := "("
	for flags != "" && v != 0 {
		var one string
		one, flags, _ = strings.Cut(flags, " ")
		name, number, _ := strings.Cut(one, "=")
		bit, err := strconv.ParseUint(number, 10, 64)
		if err != nil || v&bit == 0 {
			continue
		}
		p = append(append(p, lead...), name...)
		v, lead = v&^bit, " | "
	}
	if v != 0 {
		p = append(append(append(p, lead...), "unknown: 0x"...), strconv.FormatUint(v, 16)...)
	}
	return append(p, ')')
}
