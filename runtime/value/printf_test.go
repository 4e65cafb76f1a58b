package value

import (
	"math"
	"math/rand/v2"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// TestPrintfAgainstTheSystem compares conversions of random flags, widths and values with the
// printf command.
func TestPrintfAgainstTheSystem(t *testing.T) {
	path, err := exec.LookPath("printf")
	if err != nil {
		t.Fatal("every system has the printf command: ", err)
	}
	r := rand.New(rand.NewPCG(5, 6))
	var formats, args, want []string
	var vals []Value
	for range 600 {
		f, v, arg := randomConversion(r)
		formats, vals, args = append(formats, f), append(vals, v), append(args, arg)
	}
	all := strings.Join(formats, "\n") + "\n"
	out, err := exec.Command(path, append([]string{all}, args...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	want = strings.Split(string(out), "\n")
	for i, got := range strings.Split(Printf(all, vals, nil), "\n") {
		if got != want[i] {
			t.Errorf("%s of %v: %q, want %q", formats[i], vals[i], got, want[i])
		}
	}
}

func randomConversion(r *rand.Rand) (format string, v Value, arg string) {
	conv := "diuxXocsfeg"[r.IntN(11)]
	flags := ""
	allowed := map[byte]string{'u': "-0", 's': "-", 'c': "-", 'x': "-0#", 'X': "-0#", 'o': "-0#"}[conv]
	if allowed == "" {
		allowed = "-+ 0"
	}
	for _, f := range allowed {
		if r.IntN(3) == 0 {
			flags += string(f)
		}
	}
	format = "%" + flags
	if r.IntN(2) == 0 {
		format += strconv.Itoa(1 + r.IntN(12))
	}
	if conv != 'c' && r.IntN(3) == 0 {
		format += "." + strconv.Itoa(r.IntN(8))
	}
	format += string(conv)
	switch conv {
	case 's':
		v = Text(strings.Repeat("ab", r.IntN(5)))
		return format, v, v.Text
	case 'c':
		v = Int(int64('a' + r.IntN(26)))
		return format, v, string(rune(v.Int))
	case 'f', 'e', 'g':
		v = Value{Kind: KindFloat, Float: float64(r.IntN(2_000_000)-1_000_000) / 64}
		return format, v, strconv.FormatFloat(v.Float, 'f', -1, 64)
	}
	v = Int(int64(interesting(r)))
	if strings.IndexByte("uxXo", conv) >= 0 {
		return format, v, strconv.FormatUint(uint64(v.Int), 10)
	}
	return format, v, strconv.FormatInt(v.Int, 10)
}

func TestPrintf(t *testing.T) {
	raw := Value{Kind: KindBytes, Text: "A\x00\xff\\"}
	for _, c := range []struct {
		format string
		vals   []Value
		want   string
	}{
		{"%d %x %5d|%-5d|%s %c%%\n", []Value{Int(255), Int(255), Int(255), Int(255), Text("text"), Int(65)}, "255 ff   255|255  |text A%\n"},
		{"%p %10p|%-6p|", []Value{Int(255), Int(255), Int(1)}, "0xff       0xff|0x1   |"},
		{"%llu %ld %hhd", []Value{Int(-1), Int(-1), Int(-1)}, "18446744073709551615 -1 -1"},
		{"%r|%rx|%rh|%6rx", []Value{raw, raw, raw, {Kind: KindBytes, Text: "\x01"}}, `A\x00\xff\x5c|41 00 ff 5c|41 00 ff 5c|    01`},
		{"%s %s", []Value{Int(-3), {Kind: KindFloat, Float: 1.5}}, "-3 1.5"},
		{"%s", []Value{{Kind: KindText, Text: "long", Cut: true}}, "long.."},
		{"%d %d", []Value{Int(1)}, "1 %!d"},
		{"%d", []Value{Text("x")}, "%!d"},
		{"%f %g", []Value{Int(2), {Kind: KindUint, Int: -1}}, "2.000000 1.84467e+19"},
		{"100%", nil, "100%"},
	} {
		if got := Printf(c.format, c.vals, nil); got != c.want {
			t.Errorf("%q: %q, want %q", c.format, got, c.want)
		}
	}
}

func TestCheckPrintf(t *testing.T) {
	for _, c := range []struct {
		format string
		kinds  []Kind
		want   string
	}{
		{"%d %s %x%%", []Kind{KindInt, KindText, KindUint}, ""},
		{"%s %s %s", []Kind{KindInt, KindStack, KindFloat}, ""},
		{"%f", []Kind{KindInt}, ""},
		{"%d", nil, "%d has no argument: there are 0 behind the format"},
		{"%d %s", []Kind{KindInt}, "%s has no argument: there is 1 behind the format"},
		{"%d", []Kind{KindText}, "%d cannot print argument 1, which is text"},
		{"%x", []Kind{KindFloat}, "%x cannot print argument 1, which is float"},
		{"%r", []Kind{KindInt}, "%r cannot print argument 1, which is integer"},
		{"x", []Kind{KindInt}, "too many arguments: 1, and conversions: 0"},
		{"%q\n", []Kind{KindInt}, `%q\n is not a conversion`},
		{"%y", []Kind{KindInt}, "%y is not a conversion"},
		{"%-", nil, `the format ends in the middle of "%-"`},
		{"%99999999999999999999d", []Kind{KindInt}, "is too wide: 4096 is the most"},
		{"%.5000f", []Kind{KindFloat}, "is too wide"},
	} {
		err := CheckPrintf(c.format, c.kinds)
		if got := errorText(err); c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%q: %q, want %q", c.format, got, c.want)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func FuzzPrintf(f *testing.F) {
	f.Add("%-+08.3d %s %rx", int64(-5), "text")
	f.Fuzz(func(t *testing.T, format string, n int64, s string) {
		Printf(format, []Value{Int(n), Text(s), {Kind: KindFloat, Float: float64(n)}}, nil)
		CheckPrintf(format, []Kind{KindInt, KindText})
	})
}

var edges = []uint64{0, 1, 2, 63, 64, 65, math.MaxInt64, 1 << 63, 1<<63 + 1, math.MaxUint64, 1 << 32, 1<<32 - 1}

// interesting is a number of any length, often one at an edge.
func interesting(r *rand.Rand) uint64 {
	if r.IntN(3) == 0 {
		return edges[r.IntN(len(edges))]
	}
	return r.Uint64() >> r.IntN(64)
}
