// Package format is the list of the formats of -f: their names, the endings of files that choose them, and their
// limits.
package format

import (
	"fmt"
	"io"
	"strings"

	"gotap/script/output/folded"
	"gotap/script/output/html"
	"gotap/script/output/perfetto"
	"gotap/script/output/picture"
	"gotap/script/output/pprof"
)

// A Format is one format of the data of a run.
type Format struct {
	Name   string
	Ending string // of the names of its files

	binary bool           // a terminal cannot show it
	write  picture.Format // nil: the data are written while the run goes on
	limits picture.Limits

	// Metrics: the file is written as a whole, also while the run goes on.
	Metrics bool
}

// Limits of what is kept until the end of a run: a page has to be one that a browser shows at once.
var (
	onPage = picture.Limits{Events: 50_000, Bytes: 32 << 20}
	inFile = picture.Limits{Events: 1_000_000, Bytes: 512 << 20}
)

// The first format is the one of files with other endings.
var formats = []Format{
	{Name: "text", Ending: ".txt"},
	{Name: "json", Ending: ".json"},
	{Name: "html", Ending: ".html", write: html.Write, limits: onPage},
	{Name: "folded", Ending: ".folded", write: folded.Write, limits: inFile},
	{Name: "pprof", Ending: ".pb.gz", write: pprof.Write, limits: inFile, binary: true},
	{Name: "perfetto", Ending: ".perfetto-trace", write: perfetto.Write, limits: inFile},
	{Name: "openmetrics", Ending: ".prom", Metrics: true},
}

// Use is the help of -f.
const Use = "text, json, html, folded, pprof, perfetto or openmetrics (default by the ending of -o: .json, .html, .folded, .pb.gz, .perfetto-trace or .prom; otherwise text)"

// Names returns the names of all formats.
func Names() (names []string) {
	for _, f := range formats {
		names = append(names, f.Name)
	}
	return names
}

// Choose returns the format with a name; without a name, the one that the ending of a file's name asks for. The error
// says which names there are.
func Choose(name, file string) (Format, error) {
	for _, f := range formats {
		if name == f.Name || name == "" && strings.HasSuffix(file, f.Ending) {
			return f, nil
		}
	}
	if name == "" {
		return formats[0], nil
	}
	names := Names()
	last := len(names) - 1
	return Format{}, fmt.Errorf("--format is %s or %s, not %q", strings.Join(names[:last], ", "), names[last], name)
}

// Whole reports whether the format is one file that is written as a whole, and not lines or records that are
// written as they come.
func (f Format) Whole() bool { return f.write != nil || f.Metrics }

// A misuse is a format that does not go with other flags.
type misuse struct{ text, hint string }

func (m *misuse) Error() string { return m.text }

// Hint is what to do instead.
func (m *misuse) Hint() string { return m.hint }

// Check refuses a whole file that would go nowhere, or that would be rotated. open says whether there is a file or
// standard output for it.
func (f Format) Check(open, rotated bool) error {
	switch {
	case !f.Whole():
		return nil
	case rotated:
		return &misuse{fmt.Sprintf("--rotate is for lines and records: -f %s writes one file as a whole", f.Name), ""}
	case !open:
		return &misuse{fmt.Sprintf("-f %s needs a file beside --log", f.Name), "-o FILE" + f.Ending}
	}
	return nil
}

// CheckTerminal refuses a binary format when data go to a terminal.
func (f Format) CheckTerminal(terminal bool) error {
	if f.binary && terminal {
		return &misuse{fmt.Sprintf("-f %s is binary, and standard output is a terminal", f.Name), "-o FILE" + f.Ending}
	}
	return nil
}

// Sink returns a sink that writes a whole file. target describes what is traced.
func (f Format) Sink(to io.Writer, target string) *picture.Sink {
	return picture.New(to, f.write, f.limits, picture.Picture{Target: target})
}
