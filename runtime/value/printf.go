package value

import (
	"fmt"
	"strconv"
	"strings"
)

// verb is one conversion of a format.
type verb struct {
	flags     string // of "-+ 0#"
	width     int    // -1: none
	precision int    // -1: none
	conv      byte   // d i u x X o c s p f F g G e E r %
	hex       bool   // %rx, %rh
	text      string // as written, for messages
}

// parseFormat calls literal and conversion for the pieces of a format, in order, up to the first error. Checking and
// printing share it, so a format that is accepted before a run prints in the same way during the run.
func parseFormat(format string, literal func(string), conversion func(verb) error) (rest string, err error) {
	for format != "" {
		at := strings.IndexByte(format, '%')
		if at < 0 {
			literal(format)
			break
		}
		if at > 0 {
			literal(format[:at])
		}
		v, n, err := parseVerb(format[at:])
		if err == nil {
			err = conversion(v)
		}
		if err != nil {
			return format[at:], err
		}
		format = format[at+n:]
	}
	return "", nil
}

// parseVerb reads the conversion at the start of s and returns its length. The grammar is that of printf(3), ISO C
// 7.23.6.1, with bpftrace's %r and %rh for bytes; %rx is %rh. Lengths such as l and ll are skipped.
func parseVerb(s string) (verb, int, error) {
	v := verb{width: -1, precision: -1}
	i := 1
	for i < len(s) && strings.IndexByte("-+ 0#", s[i]) >= 0 {
		i++
	}
	v.flags = s[1:i]
	v.width, i = parseNumber(s, i)
	if i < len(s) && s[i] == '.' {
		v.precision, i = parseNumber(s, i+1)
		v.precision = max(v.precision, 0)
	}
	for i < len(s) && strings.IndexByte("hlLqjzt", s[i]) >= 0 {
		i++ // numbers are 64 bits whatever the length says
	}
	if i == len(s) {
		return v, i, fmt.Errorf("the format ends in the middle of %q", s)
	}
	v.conv = s[i]
	i++
	if v.conv == 'r' && i < len(s) && (s[i] == 'x' || s[i] == 'h') {
		v.hex = true
		i++
	}
	v.text = s[:i]
	return v, i, v.check()
}

// maxWidth limits widths and precisions, so that a format cannot request much memory.
const maxWidth = 4096

// thereAre returns the beginning of a sentence about a number of things.
func thereAre(n int) string {
	if n == 1 {
		return "there is 1"
	}
	return fmt.Sprintf("there are %d", n)
}

// check refuses unknown conversions, and sizes that would request much memory.
func (v verb) check() error {
	switch {
	case strings.IndexByte("diuxXocspfFgGeEr%", v.conv) < 0:
		return fmt.Errorf("%s is not a conversion; there are %%d %%u %%x %%o %%c %%s %%p %%f %%g %%e %%r %%rx and %%%%", strings.Trim(strconv.Quote(v.text), `"`))
	case v.width > maxWidth || v.precision > maxWidth:
		return fmt.Errorf("%s is too wide: %d is the most", v.text, maxWidth)
	}
	return nil
}

// parseNumber reads digits; it returns -1 if there are none. An overflow is reported as too wide.
func parseNumber(s string, i int) (n, end int) {
	start := i
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	if i == start {
		return -1, i
	}
	n, err := strconv.Atoi(s[start:i])
	if err != nil {
		n = maxWidth + 1
	}
	return n, i
}

// CheckPrintf reports what is wrong with a format for arguments of these kinds: an unknown
// conversion, too few or too many arguments, or one of the wrong kind.
func CheckPrintf(format string, kinds []Kind) error {
	n := 0
	_, err := parseFormat(format, func(string) {}, func(v verb) error {
		if v.conv == '%' {
			return nil
		}
		n++
		if n > len(kinds) {
			return fmt.Errorf("%s has no argument: %s behind the format", v.text, thereAre(len(kinds)))
		}
		if !v.takes(kinds[n-1]) {
			return fmt.Errorf("%s cannot print argument %d, which is %v", v.text, n, kinds[n-1])
		}
		return nil
	})
	if err == nil && n < len(kinds) {
		err = fmt.Errorf("too many arguments: %d, and conversions: %d", len(kinds), n)
	}
	return err
}

// takes reports whether the conversion can print a kind. %d of a float is refused, because C compilers warn about it;
// %f of an integer is accepted as intended.
func (v verb) takes(k Kind) bool {
	switch v.conv {
	case 's':
		return true
	case 'r':
		return k.Class() == ClassText
	case 'f', 'F', 'g', 'G', 'e', 'E':
		return k.Class() == ClassWord
	}
	return k.Class() == ClassWord && k != KindFloat
}

// Printf fills in a format, as printf(3) does: %d %i %u %x %X %o %c %s %p %f %g %e %% with flags, width and precision,
// %r for bytes with escapes, %rx and %rh for bytes in hexadecimal. %s prints any value as print would, with the lines
// of stacks from name, which may be nil. Arguments that are missing or of the wrong kind, which CheckPrintf finds,
// print as %!d.
func Printf(format string, vals []Value, name NameStack) string {
	var b strings.Builder
	n := 0
	rest, _ := parseFormat(format, func(s string) { b.WriteString(s) }, func(v verb) error {
		switch {
		case v.conv == '%':
			b.WriteByte('%')
		case n >= len(vals) || !v.takes(vals[n].Kind):
			b.WriteString("%!" + v.text[1:])
			n++
		default:
			b.WriteString(v.format(vals[n], name))
			n++
		}
		return nil
	})
	return b.String() + rest // the part that CheckPrintf would refuse prints unchanged
}

// format prints one value. After the special cases Go's verbs agree with C's.
func (v verb) format(val Value, name NameStack) string {
	spec := "%" + v.flags
	if v.width >= 0 {
		spec += strconv.Itoa(v.width)
	}
	switch v.conv {
	case 'c':
		return fmt.Sprintf(spec+"s", string([]byte{byte(val.Int)}))
	case 's', 'r':
		return v.formatText(val, name)
	case 'p':
		return fmt.Sprintf("%"+v.without("#")+v.widthText()+"s", "0x"+strconv.FormatUint(uint64(val.Int), 16))
	case 'f', 'F', 'e', 'E', 'g', 'G':
		return v.formatFloat(spec, val)
	}
	return v.formatInt(val)
}

func (v verb) without(flags string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(flags, r) {
			return -1
		}
		return r
	}, v.flags)
}

func (v verb) widthText() string {
	if v.width < 0 {
		return ""
	}
	return strconv.Itoa(v.width)
}

// formatText prints text and bytes. A precision cuts them, as in C.
func (v verb) formatText(val Value, name NameStack) string {
	var text string
	switch {
	case v.conv == 'r' && v.hex:
		text = strings.TrimSpace(fmt.Sprintf("% x", val.Text)) + val.cutmark()
	case v.conv == 'r':
		text = escapeBytes(val.Text) + val.cutmark()
	default:
		text = val.Format(name)
	}
	if v.precision >= 0 && v.precision < len(text) {
		text = text[:v.precision]
	}
	return pad(text, v.width, strings.Contains(v.flags, "-"), ' ')
}

// pad pads a text to a number of bytes.
func pad(s string, width int, left bool, with byte) string {
	if len(s) >= width {
		return s
	}
	fill := strings.Repeat(string(with), width-len(s))
	if left {
		return s + fill
	}
	return fill + s
}

// formatFloat prints any number as a float. The default precision is 6 digits in C, and as many as needed in Go.
func (v verb) formatFloat(spec string, val Value) string {
	f := val.Float
	switch val.Kind {
	case KindInt, KindBool:
		f = float64(val.Int)
	case KindUint:
		f = float64(uint64(val.Int))
	}
	precision := v.precision
	if precision < 0 {
		precision = 6
	}
	return fmt.Sprintf(spec+"."+strconv.Itoa(precision)+string(v.conv), f)
}

// formatInt prints as C does: a precision is a minimum number of digits and disables the zero flag. fmt differs from C
// in three cases, so this function makes the digits itself: a precision with the flag 0, # with o, and 0 with precision
// 0.
func (v verb) formatInt(val Value) string {
	digits, sign := v.digits(val)
	if v.precision == 0 && val.Int == 0 {
		digits = ""
	}
	digits = pad(digits, v.precision, false, '0')
	if v.conv == 'o' && strings.Contains(v.flags, "#") && !strings.HasPrefix(digits, "0") {
		digits = "0" + digits
	}
	left := strings.Contains(v.flags, "-")
	if strings.Contains(v.flags, "0") && !left && v.precision < 0 {
		digits = pad(digits, v.width-len(sign), false, '0')
	}
	return pad(sign+digits, v.width, left, ' ')
}

// digits returns the digits of a number and its prefix.
func (v verb) digits(val Value) (digits, sign string) {
	u := uint64(val.Int)
	alternative := strings.Contains(v.flags, "#")
	switch v.conv {
	case 'u':
		return strconv.FormatUint(u, 10), ""
	case 'o':
		return strconv.FormatUint(u, 8), ""
	case 'x', 'X':
		if alternative && u != 0 {
			sign = "0" + string(v.conv)
		}
		digits = strconv.FormatUint(u, 16)
		if v.conv == 'X' {
			digits = strings.ToUpper(digits)
		}
		return digits, sign
	}
	switch {
	case val.Int < 0:
		return strconv.FormatUint(-u, 10), "-"
	case strings.Contains(v.flags, "+"):
		sign = "+"
	case strings.Contains(v.flags, " "):
		sign = " "
	}
	return strconv.FormatUint(u, 10), sign
}
