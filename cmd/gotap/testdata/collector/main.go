// Command collector receives OTLP with the receiver of OpenTelemetry's Collector, and writes what has arrived, a line
// for each request: the name of the signal, and the data in the JSON of OTLP. It prints its URL first, and ends when
// its standard input does.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
)

func main() {
	if err := collect(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "collector:", err)
		os.Exit(1)
	}
}

// collect runs a receiver of each signal. They share one server, as in a pipeline of the Collector.
func collect(ctx context.Context) error {
	address, err := free()
	if err != nil {
		return err
	}
	all, err := receivers(ctx, address)
	if err != nil {
		return err
	}
	for _, r := range all {
		if err := r.Start(ctx, componenttest.NewNopHost()); err != nil {
			return err
		}
	}
	fmt.Println("http://" + address)
	_, err = io.Copy(io.Discard, os.Stdin)
	for _, r := range all {
		err = errors.Join(err, r.Shutdown(ctx))
	}
	return err
}

func receivers(ctx context.Context, address string) ([]component.Component, error) {
	factory := otlpreceiver.NewFactory()
	config := factory.CreateDefaultConfig()
	set := confmap.NewFromStringMap(map[string]any{"protocols": map[string]any{"http": map[string]any{"endpoint": address}}})
	if err := set.Unmarshal(config); err != nil {
		return nil, err
	}
	with := receiver.Settings{ID: component.NewID(factory.Type()), TelemetrySettings: componenttest.NewNopTelemetrySettings()}
	out := &printer{to: os.Stdout}
	toMetrics, err1 := consumer.NewMetrics(out.metrics)
	toLogs, err2 := consumer.NewLogs(out.logs)
	toTraces, err3 := consumer.NewTraces(out.traces)
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	metrics, err1 := factory.CreateMetrics(ctx, with, config, toMetrics)
	logs, err2 := factory.CreateLogs(ctx, with, config, toLogs)
	traces, err3 := factory.CreateTraces(ctx, with, config, toTraces)
	return []component.Component{metrics, logs, traces}, errors.Join(err1, err2, err3)
}

// free returns an address that nothing listens at.
func free() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// A printer writes what has arrived.
type printer struct {
	mu sync.Mutex
	to io.Writer
}

func (p *printer) print(signal string, data []byte, err error) error {
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	_, err = fmt.Fprintf(p.to, "%s %s\n", signal, data)
	return err
}

func (p *printer) metrics(_ context.Context, m pmetric.Metrics) error {
	data, err := (&pmetric.JSONMarshaler{}).MarshalMetrics(m)
	return p.print("metrics", data, err)
}

func (p *printer) logs(_ context.Context, l plog.Logs) error {
	data, err := (&plog.JSONMarshaler{}).MarshalLogs(l)
	return p.print("logs", data, err)
}

func (p *printer) traces(_ context.Context, t ptrace.Traces) error {
	data, err := (&ptrace.JSONMarshaler{}).MarshalTraces(t)
	return p.print("traces", data, err)
}
