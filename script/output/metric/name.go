package metric

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"

	"gotap/compile/diag"
	"gotap/runtime/value"
	"gotap/script/output/picture"
)

// prefix begins the names of all metrics.
const prefix = "gotap_"

// nameOf returns a name of letters, digits and _ for what a script calls an aggregation.
func nameOf(text string) string {
	parts := strings.FieldsFunc(text, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9')
	})
	if len(parts) == 0 {
		return prefix + "unnamed"
	}
	return prefix + strings.Join(parts, "_")
}

// suffixes are what readers append to the name of a metric.
var suffixes = map[Kind][]string{Counter: {"", "_total", "_created"}, Gauge: {""}, Summary: {"", "_sum", "_count", "_created"},
	Histogram: {"", "_sum", "_count", "_bucket", "_created"}}

// help returns a name of a script for a description, in which quotes and backslashes are written differently by
// different formats.
func help(name string) string {
	return strings.NewReplacer(`"`, "'", `\\`, "/", "\n", " ").Replace(text(name))
}

// A namer gives families different names, also with their suffixes.
type namer map[string]bool

// take replaces the name of a family by one for machines.
func (n namer) take(f *Family) {
	base := nameOf(strings.TrimPrefix(f.Name, prefix))
	if f.Kind == Counter {
		base = strings.TrimSuffix(base, "_total")
	}
	f.Name = base
	for i := 2; !n.free(f); i++ {
		f.Name = base + "_" + strconv.Itoa(i)
	}
	for _, s := range suffixes[f.Kind] {
		n[f.Name+s] = true
	}
}

func (n namer) free(f *Family) bool {
	for _, s := range suffixes[f.Kind] {
		if n[f.Name+s] {
			return false
		}
	}
	return true
}

// keyLabels returns the parts of a key as labels: key, or key1, key2 and so on. A stack is its frames, outermost first.
func keyLabels(key []value.Value, stack value.NameStack) []Label {
	labels := make([]Label, len(key))
	for i, v := range key {
		labels[i] = Label{"key", ""}
		if len(key) > 1 {
			labels[i].Name += strconv.Itoa(i + 1)
		}
		if v.Kind == value.KindStack {
			labels[i].Value = text(folded(v.Frames(stack)))
		} else {
			labels[i].Value = text(v.Format(nil))
		}
	}
	return labels
}

// folded returns frames, innermost first, as one line that begins with the outermost.
func folded(frames []string) string {
	var b strings.Builder
	for i := len(frames) - 1; i >= 0; i-- {
		b.WriteString(picture.FrameName(frames[i]))
		if i > 0 {
			b.WriteByte(';')
		}
	}
	return b.String()
}

// maxText is how long the value of a label is, in bytes.
const maxText = 200

// text returns a text of the target as UTF-8 without control characters. A long one is cut and has a hash of the whole
// at its end, so that different ones stay different.
func text(s string) string {
	shown := strings.ToValidUTF8(diag.Escape(s), "?")
	if len(shown) <= maxText {
		return shown
	}
	h := fnv.New32a()
	h.Write([]byte(s))
	return strings.ToValidUTF8(shown[:maxText-9], "") + fmt.Sprintf("~%08x", h.Sum32())
}
