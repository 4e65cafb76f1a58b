package views

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/pflag"

	"gotap/script/output/live"
	"gotap/script/output/metric"
	"gotap/script/output/otlp"
)

// Options are the flags that ask for views.
type Options struct {
	listen, token string
	collector     string // --otlp
	top           bool
	given         []string       // --label
	labels        []metric.Label // the same, parsed
}

// Register registers the flags.
func (o *Options) Register(f *pflag.FlagSet) {
	f.StringVar(&o.listen, "listen", "", "serve a live page and /metrics at PORT or HOST:PORT; without a host only to this machine")
	f.StringVar(&o.token, "listen-token", "", "what requests to --listen must have; made and printed when others than this machine can connect")
	f.BoolVar(&o.top, "top", false, "show tables, aggregations and histograms on the terminal while the run goes on")
	f.StringArrayVar(&o.given, "label", nil, "name=value, a label of metrics, of what --otlp sends, and of the record ready in JSON (repeatable)")
	f.StringVar(&o.collector, "otlp", "", "send metrics, events and calls to the OpenTelemetry collector at this URL, as in http://localhost:4318")
}

// Wanted reports whether there is any.
func (o Options) Wanted() bool { return o.listen != "" || o.token != "" || o.collector != "" || o.top }

// CheckLabels parses the labels. written reports whether the data of the run have labels.
func (o *Options) CheckLabels(written bool) (err error) {
	switch o.labels, err = metric.ParseLabels(o.given); {
	case err != nil:
		return mistake{fmt.Errorf("--label %w", err), "as in --label env=prod --label host=node-7"}
	case len(o.given) > 0 && !written && o.listen == "" && o.collector == "":
		return mistake{errors.New("--label: no output of this run has labels"), "metrics have them (-f openmetrics, --listen, --otlp), and records (-f json)"}
	}
	return nil
}

// Labelled reports whether labels are given.
func (o Options) Labelled() bool { return len(o.given) > 0 }

// Top reports whether the terminal is a view.
func (o Options) Top() bool { return o.top }

// leastToken is how long a token of the user is, in bytes.
const leastToken = 8

// A mistake is a wrong flag with advice.
type mistake struct {
	error
	hint string
}

// Hint is what to do instead.
func (m mistake) Hint() string { return m.hint }

// Unwrap returns the error itself.
func (m mistake) Unwrap() error { return m.error }

// Open opens the views that the flags ask for. say prints a line for the user, quiet or not when must is true.
func (v *Views) Open(o Options, real Streams, say func(must bool, line string)) (err error) {
	if o.token != "" && o.listen == "" {
		return errors.New("--listen-token needs --listen")
	}
	if o.collector != "" {
		to, err := otlp.ParseEndpoint(o.collector, os.Getenv("OTEL_EXPORTER_OTLP_HEADERS"))
		if err != nil {
			return fmt.Errorf("--otlp %s: %w", o.collector, err)
		}
		v.sends, v.otlp = true, otlp.New(to, v.board, func(err error) { say(true, err.Error()) })
		v.sinks = append(v.sinks, v.otlp)
	}
	if o.listen != "" {
		if err := v.listen(o, say); err != nil {
			return err
		}
	}
	if o.top {
		if v.terminal, err = newTerminal(real); err != nil {
			return err
		}
		v.sinks = append(v.sinks, v.terminal)
	}
	return nil
}

// listen begins to serve the page and the metrics.
func (v *Views) listen(o Options, say func(must bool, line string)) error {
	address, local, err := live.ParseAddress(o.listen)
	if err != nil {
		return mistake{fmt.Errorf("--listen %s: %w", o.listen, err), "as in --listen 9100, or --listen 0.0.0.0:9100 for other machines"}
	}
	made := o.token == "" && !local
	switch {
	case made:
		o.token = live.NewToken()
	case o.token != "" && len(o.token) < leastToken:
		return fmt.Errorf("--listen-token has at least %d characters", leastToken)
	}
	s, err := live.Listen(v.board, address, o.token)
	if err != nil {
		return fmt.Errorf("--listen %s: %w", o.listen, err)
	}
	v.sinks = append(v.sinks, s)
	say(made, "live page at "+s.URL(made)+", metrics at /metrics")
	return nil
}
