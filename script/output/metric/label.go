package metric

import (
	"fmt"
	"slices"
	"strings"
)

// maxLabels is how many labels a user can give: every line of the metrics has them.
const maxLabels = 20

// reserved are the labels of points, and those that have a meaning for Prometheus.
var reserved = []string{"le", "quantile", "probe", "cause", "aggregation"}

// ParseLabels understands labels as a user gives them, name=value each. A name is of letters, digits, _ and dots;
// without a value the label of this name is left out.
func ParseLabels(texts []string) (list []Label, err error) {
	if len(texts) > maxLabels {
		return nil, fmt.Errorf("%d labels; the limit is %d", len(texts), maxLabels)
	}
	for _, t := range texts {
		name, value, ok := strings.Cut(t, "=")
		plain := PlainName(name)
		switch {
		case !ok:
			return nil, fmt.Errorf("%s: no name=value", t)
		case !isName(name):
			return nil, fmt.Errorf("%s: a name has letters, digits, _ and dots, and begins with a letter", t)
		case slices.Contains(reserved, plain) || isKey(plain):
			return nil, fmt.Errorf("%s: metrics have a label %s of their own", t, plain)
		case slices.ContainsFunc(list, func(l Label) bool { return PlainName(l.Name) == plain }):
			return nil, fmt.Errorf("%s: the label %s is given twice", t, plain)
		}
		list = append(list, Label{name, value})
	}
	return list, nil
}

// PlainName returns the name of a label without dots, which Prometheus' text format does not have.
func PlainName(name string) string { return strings.ReplaceAll(name, ".", "_") }

func isName(name string) bool {
	for i, r := range name {
		letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		if !letter && (i == 0 || r != '_' && r != '.' && (r < '0' || r > '9')) {
			return false
		}
	}
	return name != ""
}

// isKey reports whether a label is one of keyLabels.
func isKey(name string) bool {
	rest, ok := strings.CutPrefix(name, "key")
	return ok && strings.Trim(rest, "0123456789") == ""
}

// With returns the identity with labels of the user. They replace what is known otherwise, so that a program in a
// container can tell the name of its node.
func (i Identity) With(labels []Label) Identity {
	i.Own = nil
	known := map[string]*string{"host": &i.Host, "container": &i.Container, "program": &i.Program, "script": &i.Script}
	for _, l := range labels {
		switch field := known[l.Name]; {
		case field != nil:
			*field = l.Value
		case l.Value != "":
			i.Own = append(i.Own, l)
		}
	}
	return i
}
