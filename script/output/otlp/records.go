package otlp

import (
	"math"
	"strconv"
	"strings"
	"time"

	common "go.opentelemetry.io/proto/otlp/common/v1"
	logs "go.opentelemetry.io/proto/otlp/logs/v1"
	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	resource "go.opentelemetry.io/proto/otlp/resource/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"golang.org/x/sys/unix"

	"gotap/script/output"
	"gotap/script/output/metric"
	"gotap/script/output/picture"
)

// A clock turns monotonic nanoseconds into those since 1970.
type clock int64

func newClock() clock {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) != nil {
		return 0
	}
	return clock(time.Now().UnixNano() - now.Nano())
}

func (c clock) wall(monotonic uint64) uint64 { return uint64(int64(c) + int64(monotonic)) }

// log returns an event as a record.
func (c clock) log(e output.Event) *logs.LogRecord {
	r := &logs.LogRecord{TimeUnixNano: c.wall(e.Time), ObservedTimeUnixNano: uint64(time.Now().UnixNano()), SeverityNumber: logs.SeverityNumber_SEVERITY_NUMBER_INFO,
		SeverityText: "INFO", EventName: valid(e.Probe), Attributes: thread(e.Pid, e.Tid, e.Comm)}
	r.Attributes = append(r.Attributes, text("gotap.probe", e.Probe))
	if len(e.Fields) > 0 {
		r.Body = anyOf(e.Fields)
	} else {
		r.Body = anyOf(strings.TrimSuffix(e.Text, "\n"))
	}
	return r
}

// span returns a call as a span without identity.
func (c clock) span(call picture.Call) *trace.Span {
	s := &trace.Span{Name: valid(call.Func), Kind: trace.Span_SPAN_KIND_INTERNAL, StartTimeUnixNano: c.wall(call.Start), EndTimeUnixNano: c.wall(call.Start + call.Took),
		Attributes: append(thread(call.Pid, call.Tid, call.Comm), text("code.function.name", call.Func), text("gotap.module", call.Module), text("gotap.call", call.Text))}
	if call.Result != "" {
		s.Attributes = append(s.Attributes, text("gotap.result", call.Result))
	}
	if len(call.Stack) > 0 {
		s.Attributes = append(s.Attributes, text("code.stacktrace", strings.Join(call.Stack, "\n")))
	}
	if !call.Returned {
		s.Attributes = append(s.Attributes, &common.KeyValue{Key: "gotap.returned", Value: anyOf(false)})
	}
	if call.Failed {
		s.Status = &trace.Status{Code: trace.Status_STATUS_CODE_ERROR, Message: valid(call.Result)}
	}
	return s
}

// thread returns the attributes of a thread.
func thread(pid, tid uint32, comm string) []*common.KeyValue {
	return []*common.KeyValue{{Key: "process.pid", Value: anyOf(int64(pid))}, {Key: "thread.id", Value: anyOf(int64(tid))}, text("thread.name", comm)}
}

func text(name, value string) *common.KeyValue {
	return &common.KeyValue{Key: name, Value: anyOf(value)}
}

// valid returns a text of the target as UTF-8, which the protocol demands.
func valid(s string) string { return strings.ToValidUTF8(s, "?") }

// anyOf returns the value of a field. Integers that have no room are texts.
func anyOf(v any) *common.AnyValue {
	switch v := v.(type) {
	case string:
		return &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: valid(v)}}
	case bool:
		return &common.AnyValue{Value: &common.AnyValue_BoolValue{BoolValue: v}}
	case int:
		return anyOf(int64(v))
	case int64:
		return &common.AnyValue{Value: &common.AnyValue_IntValue{IntValue: v}}
	case uint64:
		if v > math.MaxInt64 {
			return anyOf(strconv.FormatUint(v, 10))
		}
		return anyOf(int64(v))
	case float64:
		return &common.AnyValue{Value: &common.AnyValue_DoubleValue{DoubleValue: v}}
	case []string:
		list := &common.ArrayValue{}
		for _, one := range v {
			list.Values = append(list.Values, anyOf(one))
		}
		return &common.AnyValue{Value: &common.AnyValue_ArrayValue{ArrayValue: list}}
	case []any:
		list := &common.ArrayValue{}
		for _, one := range v {
			list.Values = append(list.Values, anyOf(one))
		}
		return &common.AnyValue{Value: &common.AnyValue_ArrayValue{ArrayValue: list}}
	case []output.Field:
		list := &common.KeyValueList{}
		for _, f := range v {
			list.Values = append(list.Values, &common.KeyValue{Key: valid(f.Name), Value: anyOf(f.Value)})
		}
		return &common.AnyValue{Value: &common.AnyValue_KvlistValue{KvlistValue: list}}
	}
	return &common.AnyValue{}
}

// resourceOf returns what all records of a session have in common. Labels of the user replace attributes of the same
// name.
func resourceOf(id metric.Identity) *resource.Resource {
	all := append([]metric.Label{{Name: "service.name", Value: "gotap"}, {Name: "host.name", Value: id.Host}, {Name: "container.id", Value: id.Container},
		{Name: "process.executable.name", Value: id.Program}, {Name: "gotap.script", Value: id.Script}}, id.Own...)
	r, at := &resource.Resource{}, map[string]int{}
	for _, a := range all {
		i, known := at[a.Name]
		switch {
		case a.Value == "":
		case known:
			r.Attributes[i] = text(a.Name, a.Value)
		default:
			at[a.Name] = len(r.Attributes)
			r.Attributes = append(r.Attributes, text(a.Name, a.Value))
		}
	}
	return r
}

// scope names what has made the records.
func scope() *common.InstrumentationScope { return &common.InstrumentationScope{Name: "gotap"} }

// logsOf returns a request with records, and how many these are.
func logsOf(id metric.Identity, list []*logs.LogRecord) (message, int) {
	return &logs.LogsData{ResourceLogs: []*logs.ResourceLogs{{Resource: resourceOf(id), ScopeLogs: []*logs.ScopeLogs{{Scope: scope(), LogRecords: list}}}}}, len(list)
}

// spansOf returns a request with spans, and how many these are.
func spansOf(id metric.Identity, list []*trace.Span) (message, int) {
	return &trace.TracesData{ResourceSpans: []*trace.ResourceSpans{{Resource: resourceOf(id), ScopeSpans: []*trace.ScopeSpans{{Scope: scope(), Spans: list}}}}}, len(list)
}

// recordsOf returns how many records a request has.
func recordsOf(m message) int {
	switch m := m.(type) {
	case *logs.LogsData:
		return len(m.ResourceLogs[0].ScopeLogs[0].LogRecords)
	case *trace.TracesData:
		return len(m.ResourceSpans[0].ScopeSpans[0].Spans)
	case *metrics.MetricsData:
		return len(m.ResourceMetrics[0].ScopeMetrics[0].Metrics)
	}
	return 0
}
