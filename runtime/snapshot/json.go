package snapshot

import (
	"slices"

	"gotap/runtime/object"
	"gotap/runtime/value"
)

// The JSON forms of a snapshot. Readers of the text rely on this order of properties.
type (
	jsonObject struct {
		Type  string `json:"type"`
		Name  string `json:"name"`
		Value any    `json:"value,omitempty"`
		Data  any    `json:"data,omitempty"`
	}
	jsonEntry struct {
		Key   []any `json:"key"`
		Value any   `json:"value"`
	}
	jsonBucket struct {
		Min   any `json:"min,omitempty"`
		Max   any `json:"max,omitempty"`
		Count any `json:"count"`
	}
	jsonPoint struct {
		Start string `json:"interval_start"`
		Value any    `json:"value"`
	}
)

// JSON returns a form for encoding/json. type is "hist" for histograms, "stats" for stats and "tseries" for time
// series, otherwise "map" with keys and "value" without. Without keys, histograms have their buckets as data and series
// their points; everything else has a value. With keys, data is a list of {key: […], value: …}.
func (s Snapshot) JSON() any {
	s = s.Series()
	o := jsonObject{Type: s.jsonType(), Name: s.Object.Name}
	switch {
	case s.keyed():
		list := make([]jsonEntry, 0, len(s.Entries))
		for _, e := range s.Entries {
			list = append(list, jsonEntry{Key: s.jsonKey(e.Key), Value: s.DataJSON(e.Data)})
		}
		o.Data = list
	case len(s.Entries) == 0:
		o.emptyJSON(s.Object.Kind)
	case s.Entries[0].Data.Buckets != nil || s.Entries[0].Data.Points != nil:
		o.Data = s.DataJSON(s.Entries[0].Data)
	default:
		o.Value = s.DataJSON(s.Entries[0].Data)
	}
	return o
}

// With returns the part of the snapshot that Print shows for its options: the largest entries, with their values
// divided. Buckets and points are divided too. The snapshot itself is not changed.
func (s Snapshot) With(o Options) Snapshot {
	s = s.Series()
	s.stack = o.Stack
	if o.Top > 0 && len(s.Entries) > o.Top {
		s.Entries = s.Entries[len(s.Entries)-o.Top:]
	}
	if o.Div <= 1 {
		return s
	}
	s.Entries = slices.Clone(s.Entries)
	for i := range s.Entries {
		s.Entries[i].Data = s.Entries[i].Data.over(int64(o.Div), s.Object.Value == value.KindUint)
	}
	return s
}

// over returns a value divided by div. The hit counts of averages are not divided.
func (d Data) over(div int64, unsigned bool) Data {
	if unsigned && d.Kind == object.KindMap {
		d.Int = int64(uint64(d.Int) / uint64(div))
	} else {
		d.Int /= div
	}
	d.Sum, d.Float, d.div = d.Sum/div, d.Float/float64(div), max(d.div, 1)*div
	d.Buckets = slices.Clone(d.Buckets)
	for i := range d.Buckets {
		d.Buckets[i].Count /= uint64(div)
	}
	d.Points = slices.Clone(d.Points)
	for i := range d.Points {
		d.Points[i].Value /= div
	}
	return d
}

// emptyJSON sets the data of an object without keys to which nothing was added.
func (o *jsonObject) emptyJSON(kind object.Kind) {
	switch kind {
	case object.KindHist, object.KindLhist:
		o.Data = []jsonBucket{}
	case object.KindSeries:
		o.Data = []jsonPoint{}
	case object.KindStats:
		o.Value = jsonStats{Count: 0, Average: 0, Total: 0}
	default:
		o.Value = 0
	}
}

// keyed reports whether the entries have keys. The declaration alone does not decide: tables that no program has used
// yet have no keys, and maps always print as maps.
func (s Snapshot) keyed() bool {
	return s.Object.UserKeys() > 0 || s.Object.Kind == object.KindMap || s.Object.Kind == object.KindArray || s.Object.Kind == object.KindPerThread ||
		len(s.Entries) > 0 && len(s.Entries[0].Key) > 0
}

func (s Snapshot) jsonType() string {
	switch s.Object.Kind {
	case object.KindHist, object.KindLhist:
		return "hist"
	case object.KindStats:
		return "stats"
	case object.KindSeries:
		return "tseries"
	}
	if s.keyed() {
		return "map"
	}
	return "value"
}

// jsonKey returns a key as a list of its parts. The lines of a stack are the printed ones, as in an event, because a
// later reader cannot name the addresses of a process that has ended.
func (s Snapshot) jsonKey(key []value.Value) []any {
	parts := make([]any, len(key))
	for i, v := range key {
		if parts[i] = v.JSON(); v.Kind == value.KindStack && s.stack != nil {
			parts[i] = v.Frames(s.stack)
		}
	}
	return parts
}

// DataJSON returns the value of an entry for encoding/json.
func (s Snapshot) DataJSON(d Data) any {
	switch {
	case d.Kind == object.KindHist || d.Kind == object.KindLhist:
		list := make([]jsonBucket, len(d.Buckets))
		for i, b := range d.Buckets {
			list[i] = b.json()
		}
		return list
	case d.Kind == object.KindSeries:
		return s.pointsJSON(d.Points)
	case d.IsText:
		return d.marked()
	case d.Kind == object.KindStats:
		return d.Summary().json()
	case d.IsFloat:
		return value.Value{Kind: value.KindFloat, Float: d.Float}.JSON()
	case (d.Kind == object.KindMap || d.Kind == object.KindInt) && s.Object.Value.Class() == value.ClassWord:
		return value.FromWord(s.Object.Value, uint64(d.Int)).JSON()
	}
	return value.JSONInt(d.Int)
}

// json omits open ends.
func (b Bucket) json() jsonBucket {
	j := jsonBucket{Count: value.JSONUint(b.Count)}
	if b.Min != nil {
		j.Min = value.JSONInt(*b.Min)
	}
	if b.Max != nil {
		j.Max = value.JSONInt(*b.Max)
	}
	return j
}
