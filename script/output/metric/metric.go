package metric

import (
	"maps"
	"slices"

	"gotap/runtime/object"
	"gotap/runtime/snapshot"
	"gotap/runtime/value"
	"gotap/script/output"
)

// Kind is the type of a metric.
type Kind int

// The kinds of metrics.
const (
	Counter   Kind = iota // a number that only grows, until the script clears it
	Gauge                 // a number
	Summary               // how many values there were, their sum, and quantiles
	Histogram             // how many values there were in each range
)

// A Family has the points of one aggregation or map.
type Family struct {
	Name   string // for machines, without the suffix of counters: "gotap_request_size"
	Help   string
	Kind   Kind
	Powers bool // of a histogram whose buckets are 0, 1, 2 to 3, 4 to 7 …
	Points []Point
}

// A Point is the value for one key.
type Point struct {
	Labels    []Label
	Value     float64             // Counter, Gauge
	Count     uint64              // Summary, Histogram
	Sum       float64             // Summary; the sum of a histogram's values is not known
	Quantiles map[float64]float64 // Summary: values by the part of all that they are not below
	Buckets   []snapshot.Bucket   // Histogram: ascending, from the first with values to the last
}

// A Label is a part of a point's key.
type Label struct{ Name, Value string }

// Identity is what all metrics of a session have in common; an empty field is unknown.
type Identity struct {
	Host      string
	Container string // ID of the target's container
	Program   string // base name of the target's program
	Script    string
	Own       []Label // that the user has given besides
}

// Labels returns the known parts.
func (i Identity) Labels() (list []Label) {
	for _, l := range append([]Label{{"host", i.Host}, {"container", i.Container}, {"program", i.Program}, {"script", i.Script}}, i.Own...) {
		if l.Value != "" {
			list = append(list, Label{l.Name, text(l.Value)})
		}
	}
	return list
}

// A Probe is what a probe has done so far.
type Probe struct {
	Name         string
	Hits, Missed uint64
}

// A Source has what a set is made of.
type Source struct {
	Aggregates []output.Aggregate
	Probes     []Probe
	Lost       map[string]uint64 // by cause
}

// A Set is all metrics of a session at one moment.
type Set struct {
	Identity Identity
	Families []Family
	Left     map[string]uint64 // keys that were left out, by the name of the aggregation
	Probes   uint64            // probes that were left out
}

// Limits on how many lines of text a set has, so that a script with many keys does not overwhelm a monitoring system. A
// counter or gauge is a line for each key, a summary five, a histogram one for each bucket and one more.
const (
	MaxFamily = 2000
	MaxAll    = 10_000
	MaxProbes = 1000
	MaxCauses = 100 // of loss; the others are one line
)

// New returns the metrics of a session. Of an aggregation with too many keys the largest values are there.
func New(id Identity, from Source) Set {
	s := Set{Identity: id, Left: map[string]uint64{}}
	n, room := namer{}, MaxAll
	families, probes := own(from)
	s.Probes = probes
	for _, f := range families {
		n.take(&f)
		s.Families = append(s.Families, f)
	}
	for _, a := range from.Aggregates {
		f, ok := begin(a.Snapshot.Object)
		if !ok {
			continue
		}
		left := f.fill(a, &room)
		if left > 0 {
			s.Left[a.Snapshot.Object.Name] += left
		}
		if len(f.Points) > 0 {
			n.take(&f)
			s.Families = append(s.Families, f)
		}
	}
	if len(s.Left) > 0 {
		f := Family{Name: "gotap_keys_left_out", Help: "Keys that are no metrics: too many, or no numbers.", Kind: Gauge}
		for _, name := range slices.Sorted(maps.Keys(s.Left)) {
			f.Points = append(f.Points, Point{Labels: []Label{{"aggregation", text(name)}}, Value: float64(s.Left[name])})
		}
		s.Families = append(s.Families, f)
	}
	return s
}

// own returns the metrics about the session itself, and how many probes they leave out.
func own(from Source) (list []Family, left uint64) {
	hits := Family{Name: "gotap_probe_hits", Help: "Hits of a probe.", Kind: Counter}
	missed := Family{Name: "gotap_probe_missed", Help: "Hits of a probe that its program did not see.", Kind: Counter}
	at, out := map[string]int{}, map[string]bool{}
	for _, p := range from.Probes {
		i, known := at[p.Name]
		if !known {
			if len(at) == MaxProbes {
				out[p.Name] = true
				continue
			}
			i = len(hits.Points)
			at[p.Name] = i
			labels := []Label{{"probe", text(p.Name)}}
			hits.Points, missed.Points = append(hits.Points, Point{Labels: labels}), append(missed.Points, Point{Labels: labels})
		}
		hits.Points[i].Value += float64(p.Hits)
		missed.Points[i].Value += float64(p.Missed)
	}
	without := Family{Name: "gotap_probes_left_out", Help: "Probes that are no metrics: too many.", Kind: Gauge}
	if len(out) > 0 {
		without.Points = []Point{{Value: float64(len(out))}}
	}
	list = []Family{hits, missed, losses(from.Lost), without}
	return slices.DeleteFunc(list, func(f Family) bool { return len(f.Points) == 0 }), uint64(len(out))
}

// losses returns what was lost. Causes that are too many are one, so that the sum is right.
func losses(lost map[string]uint64) Family {
	f := Family{Name: "gotap_lost", Help: "What was lost, by cause.", Kind: Counter}
	for i, cause := range slices.Sorted(maps.Keys(lost)) {
		n := float64(lost[cause])
		if i >= MaxCauses {
			if i == MaxCauses {
				f.Points = append(f.Points, Point{Labels: []Label{{"cause", "other causes"}}})
			}
			f.Points[MaxCauses].Value += n
			continue
		}
		f.Points = append(f.Points, Point{Labels: []Label{{"cause", text(cause)}}, Value: n})
	}
	return f
}

// begin returns the family of an object without its points; ok is false for variables.
func begin(o object.Object) (f Family, ok bool) {
	f = Family{Name: o.Name, Help: kindTexts[o.Kind] + " of a gotap script: " + help(o.Name)}
	switch o.Kind {
	case object.KindCount:
		f.Kind = Counter
	case object.KindMap, object.KindSum, object.KindMin, object.KindMax, object.KindAvg, object.KindSeries:
		f.Kind = Gauge
	case object.KindStats:
		f.Kind = Summary
	case object.KindHist, object.KindLhist:
		f.Kind, f.Powers = Histogram, o.Kind == object.KindHist && o.Bits == 0
	default:
		return f, false
	}
	return f, true
}

// kindTexts name the kinds of objects in descriptions.
var kindTexts = map[object.Kind]string{object.KindCount: "Count", object.KindSum: "Sum", object.KindMin: "Minimum", object.KindMax: "Maximum",
	object.KindAvg: "Average", object.KindStats: "Count, sum and quantiles", object.KindHist: "Histogram", object.KindLhist: "Histogram", object.KindMap: "Map",
	object.KindSeries: "Latest interval of the time series"}

// fill adds the points of an aggregation, the largest first, and takes their lines from the room that is left. It
// returns how many keys are left out.
func (f *Family) fill(a output.Aggregate, room *int) (left uint64) {
	s := a.Snapshot.Series()
	if len(s.Entries) == 0 && s.Object.UserKeys() == 0 && f.Kind == Counter {
		s.Entries = []snapshot.Entry{{Data: snapshot.Data{Kind: s.Object.Kind}}}
	}
	most, seen := min(MaxFamily, *room), map[string]bool{}
	used := 0
	for _, e := range slices.Backward(s.Entries) {
		p, id, ok := f.point(e, s.Object, a.Options.Stack)
		if !ok || seen[id] || used+p.lines(f.Kind) > most {
			left++
			continue
		}
		seen[id] = true
		used += p.lines(f.Kind)
		f.Points = append(f.Points, p)
	}
	*room -= used
	return left
}

// lines returns how many lines of text a point is.
func (p Point) lines(k Kind) int {
	switch k {
	case Summary:
		return 2 + len(p.Quantiles)
	case Histogram:
		return len(p.Buckets) + 2
	}
	return 1
}

// point returns the point of an entry, and a text that tells its labels from others. ok is false when the entry is not
// a number.
func (f *Family) point(e snapshot.Entry, o object.Object, stack value.NameStack) (p Point, id string, ok bool) {
	p.Labels = keyLabels(e.Key, stack)
	for _, l := range p.Labels {
		id += l.Value + "\x00"
	}
	d := e.Data
	switch {
	case d.IsText:
		return p, id, false
	case f.Kind == Summary:
		sum := d.Summary()
		p.Count, p.Sum, p.Quantiles = uint64(sum.Count), sum.Total.Number(), map[float64]float64{}
		for i, part := range snapshot.Quantiles() {
			p.Quantiles[part] = sum.Quantiles[i].Number()
		}
	case f.Kind == Histogram:
		p.Buckets = d.Buckets
		for _, b := range d.Buckets {
			p.Count += b.Count
		}
	case o.Kind == object.KindSeries:
		last := d.Points[len(d.Points)-1]
		p.Value = float64(last.Value)
		return p, id, !last.Empty
	case d.IsFloat:
		p.Value = d.Float
	case o.Kind == object.KindMap && o.Value == value.KindUint:
		p.Value = float64(uint64(d.Int))
	default:
		p.Value = float64(d.Int)
	}
	return p, id, true
}

// Cumulative returns how many values of a histogram are at most a bound, for the upper bounds of its buckets. Of powers
// of two it begins with 0, whatever the first bucket is, so that further buckets appear at one end only.
func (f *Family) Cumulative(p Point) map[float64]uint64 {
	counts, sum := map[float64]uint64{}, uint64(0)
	if f.Powers && len(p.Buckets) > 0 && p.Buckets[0].Min != nil {
		counts[0] = 0
		for bound := int64(1); bound < *p.Buckets[0].Min; bound = 2*bound + 1 {
			counts[float64(bound)] = 0
		}
	}
	for _, b := range p.Buckets {
		if sum += b.Count; b.Max != nil {
			counts[float64(*b.Max)] = sum
		}
	}
	return counts
}
