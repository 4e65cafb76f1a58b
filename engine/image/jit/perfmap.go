package jit

import (
	"bytes"
	"io"
	"strconv"
	"strings"
)

// perfMap is a map of symbols for perf: each line has the start and the size of a piece of code in hexadecimal digits,
// and its name.
type perfMap struct {
	at int64 // read up to here, behind the last complete line
}

// chunk is how many bytes are read at a time, and more than the longest line that counts.
const chunk = 1 << 20

// read adds the lines that have been written since the last time.
func (p *perfMap) read(t *table, f io.ReaderAt, size int64) {
	size = min(size, maxText)
	for p.at < size {
		text := make([]byte, min(chunk, size-p.at))
		n, _ := f.ReadAt(text, p.at)
		text = text[:n]
		end := bytes.LastIndexByte(text, '\n') + 1
		if end == 0 {
			if n == chunk { // no line at all
				p.at += chunk
				continue
			}
			return
		}
		p.at += int64(end)
		for one := range strings.Lines(string(text[:end])) {
			if c, ok := parseLine(strings.TrimSuffix(one, "\n")); ok {
				t.add(c)
			}
		}
	}
}

// parseLine reads "START SIZE NAME".
func parseLine(text string) (code, bool) {
	first, rest, _ := strings.Cut(strings.TrimLeft(text, " "), " ")
	second, name, ok := strings.Cut(strings.TrimLeft(rest, " "), " ")
	start, bad := strconv.ParseUint(strings.TrimPrefix(first, "0x"), 16, 64)
	size, worse := strconv.ParseUint(strings.TrimPrefix(second, "0x"), 16, 64)
	if !ok || bad != nil || worse != nil {
		return code{}, false
	}
	return code{start: start, end: start + size, name: clean(strings.TrimSpace(name))}, true
}
