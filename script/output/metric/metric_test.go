package metric

import (
	"fmt"
	"strings"
	"testing"

	"gotap/runtime/object"
	"gotap/runtime/snapshot"
	"gotap/runtime/value"
	"gotap/script/output"
)

func aggregate(o object.Object, entries ...snapshot.Entry) output.Aggregate {
	return output.Aggregate{Snapshot: snapshot.Snapshot{Object: o, Entries: entries}}
}

func counted(key string, n int64) snapshot.Entry {
	return snapshot.Entry{Key: []value.Value{value.Text(key)}, Data: snapshot.Data{Kind: object.KindCount, Int: n, Count: n}}
}

// TestNames: names that a script may give become different names for machines, also with what readers append to them.
func TestNames(t *testing.T) {
	var list []output.Aggregate
	for _, name := range []string{"big malloc, ns", "big malloc ns", "", "é", "x_total", "probe_hits"} {
		list = append(list, aggregate(object.Object{Name: name, Kind: object.KindCount}))
	}
	sums := snapshot.Entry{Data: snapshot.Data{Kind: object.KindStats, Count: 2, Sum: 5}}
	list = append(list, aggregate(object.Object{Name: "t", Kind: object.KindStats}, sums),
		aggregate(object.Object{Name: "t_sum", Kind: object.KindMax}, snapshot.Entry{Data: snapshot.Data{Kind: object.KindMax, Int: 1}}))
	var names []string
	for _, f := range New(Identity{}, Source{Aggregates: list, Probes: []Probe{{"p", 1, 0}}}).Families {
		names = append(names, f.Name)
	}
	want := "gotap_probe_hits gotap_probe_missed gotap_big_malloc_ns gotap_big_malloc_ns_2 gotap_unnamed gotap_unnamed_2 gotap_x gotap_probe_hits_2 gotap_t gotap_t_sum_2"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestBounded: of too many keys the largest values are metrics, and the others are counted.
func TestBounded(t *testing.T) {
	var entries []snapshot.Entry
	for i := range int64(MaxFamily + 50) {
		entries = append(entries, counted(fmt.Sprint(i), i))
	}
	var list []output.Aggregate
	for i := range 7 {
		list = append(list, aggregate(object.Object{Name: fmt.Sprint("n", i), Kind: object.KindCount, Keys: 1}, entries...))
	}
	s := New(Identity{}, Source{Aggregates: list})
	if len(s.Families) != 6 || len(s.Families[0].Points) != MaxFamily || s.Families[0].Points[0].Value != MaxFamily+49 {
		t.Errorf("%d families, %d points, the first is %v", len(s.Families), len(s.Families[0].Points), s.Families[0].Points[0])
	}
	if s.Left["n0"] != 50 || s.Left["n6"] != MaxFamily+50 {
		t.Errorf("left out: %v", s.Left)
	}
	if f := s.Families[5]; f.Name != "gotap_keys_left_out" || len(f.Points) != 7 {
		t.Errorf("the metric of what is left out: %v", f)
	}
}

// TestLabels: texts of the target become labels of bounded length that stay different.
func TestLabels(t *testing.T) {
	long := strings.Repeat("ü", 300)
	s := New(Identity{}, Source{Aggregates: []output.Aggregate{aggregate(object.Object{Name: "n", Kind: object.KindCount, Keys: 1},
		counted(long+"a", 1), counted(long+"b", 2), counted("\x1b[2J\xff", 3))}})
	p := s.Families[0].Points
	if len(p) != 3 || p[0].Labels[0].Value != `\x1b[2J?` && p[0].Labels[0].Value != `\x1b[2J\xff` {
		t.Fatalf("points: %v", p)
	}
	a, b := p[1].Labels[0].Value, p[2].Labels[0].Value
	if a == b || len(a) > maxText || !strings.HasPrefix(a, "üüü") {
		t.Errorf("labels %q, %q", a, b)
	}
}

// TestParseLabels: what a user gives becomes labels, or an error that names it.
func TestParseLabels(t *testing.T) {
	many := make([]string, maxLabels+1)
	for i := range many {
		many[i] = fmt.Sprintf("l%d=x", i)
	}
	for given, want := range map[string]string{
		"env=prod":                       "env=prod",
		"env=":                           "host=h program=p",
		"a.b=1=2 z_9=":                   "a.b=1=2",
		"host=node-7 program= x=y":       "host=node-7 x=y",
		"container=pod":                  "host=h container=pod program=p",
		"env":                            "env: no name=value",
		"=x":                             "=x: a name has letters, digits, _ and dots, and begins with a letter",
		"9a=x":                           "9a=x: a name has letters",
		"__name__=x":                     "__name__=x: a name has letters",
		"a-b=x":                          "a-b=x: a name has letters",
		"le=x":                           "le=x: metrics have a label le of their own",
		"key=x":                          "key=x: metrics have a label key of their own",
		"key12=x":                        "key12=x: metrics have a label key12 of their own",
		"keys=x":                         "host=h program=p keys=x",
		"a.b=x a_b=y":                    "a_b=y: the label a_b is given twice",
		strings.Join(many, " "):          "21 labels; the limit is 20",
		strings.Join(many[1:], " ")[:50]: "l1=x",
	} {
		list, err := ParseLabels(strings.Fields(given))
		var texts []string
		for _, l := range (Identity{Host: "h", Program: "p"}).With(list).Labels() {
			texts = append(texts, l.Name+"="+l.Value)
		}
		got := strings.Join(texts, " ")
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: got %s, want %s", given, got, want)
		}
	}
	if list := (Identity{Host: "h"}).With([]Label{{"host", ""}}).Labels(); len(list) != 0 {
		t.Errorf("a label without a value: %v", list)
	}
}

// TestManyProbes: what is too much about the session itself is counted, and losses keep their sum.
func TestManyProbes(t *testing.T) {
	from := Source{Lost: map[string]uint64{}}
	for i := range MaxProbes + 3 {
		from.Probes = append(from.Probes, Probe{fmt.Sprint("p", i), 1, 0}, Probe{fmt.Sprint("p", i), 1, 0})
		from.Lost[fmt.Sprint("at ", i)] = 2
	}
	s := New(Identity{}, from)
	values := map[string]float64{}
	for _, f := range s.Families {
		for _, p := range f.Points {
			values[f.Name] += p.Value
		}
		if len(f.Points) > MaxProbes {
			t.Errorf("%s has %d points", f.Name, len(f.Points))
		}
	}
	if s.Probes != 3 || values["gotap_probes_left_out"] != 3 || values["gotap_probe_hits"] != 2*MaxProbes || values["gotap_lost"] != 2*(MaxProbes+3) {
		t.Errorf("%d probes left out, sums %v", s.Probes, values)
	}
	for _, f := range s.Families {
		if f.Name == "gotap_lost" && len(f.Points) != MaxCauses+1 {
			t.Errorf("%d causes", len(f.Points))
		}
	}
}

// TestNoNumbers: texts are no metrics.
func TestNoNumbers(t *testing.T) {
	e := snapshot.Entry{Key: []value.Value{value.Int(1)}, Data: snapshot.Data{Kind: object.KindMap, Text: "a", IsText: true}}
	s := New(Identity{}, Source{Aggregates: []output.Aggregate{aggregate(object.Object{Name: "m", Kind: object.KindMap, Keys: 1}, e)}})
	if len(s.Families) != 1 || s.Left["m"] != 1 {
		t.Errorf("%v, left out %v", s.Families, s.Left)
	}
}

// TestCumulative: the bounds of powers of two begin with 0, so that a larger value adds bounds at one end only.
func TestCumulative(t *testing.T) {
	four, seven := int64(4), int64(7)
	f := Family{Powers: true}
	got := f.Cumulative(Point{Buckets: []snapshot.Bucket{{Min: &four, Max: &seven, Count: 3}}})
	if fmt.Sprint(got) != "map[0:0 1:0 3:0 7:3]" {
		t.Errorf("%v", got)
	}
}
