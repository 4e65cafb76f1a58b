// Package otlp sends a run to a collector of OpenTelemetry, as protobuf over HTTP: metrics every ten seconds, events as
// logs and calls as spans every second, and the rest at the end.
//
// The messages are those of go.opentelemetry.io/proto/otlp. OpenTelemetry's SDK is not used: its exporters need gRPC,
// which would make the program larger by a quarter, its histograms always have a sum, which gotap does not know, and
// its queues drop records without saying how many.
//
// A Sink sends on a goroutine of its own. What a collector does not take for a while waits, as far as there is room;
// more is counted as lost.
package otlp
