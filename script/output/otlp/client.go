package otlp

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// message is a request of the protocol.
type message = proto.Message

// requestTime is how long a collector has for an answer, and mostAnswer how much of it is read, in bytes.
const (
	requestTime = 10 * time.Second
	mostAnswer  = 64 << 10
)

// An Endpoint is where a collector receives.
type Endpoint struct {
	base    *url.URL
	headers map[string]string
}

// ParseEndpoint understands the URL of a collector, to which v1/metrics and so on are appended, and headers for all
// requests as the variable OTEL_EXPORTER_OTLP_HEADERS has them: name=value, separated by commas, with %XX.
func ParseEndpoint(text, headers string) (Endpoint, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return Endpoint{}, errors.New("not a URL such as http://localhost:4318")
	}
	e := Endpoint{u, map[string]string{}}
	for pair := range strings.SplitSeq(headers, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		name, value, ok := strings.Cut(pair, "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if !ok || err != nil {
			return Endpoint{}, errors.New("OTEL_EXPORTER_OTLP_HEADERS is not name=value, separated by commas")
		}
		e.headers[strings.TrimSpace(name)] = value
	}
	return e, nil
}

// A client sends requests to a collector.
type client struct {
	to       Endpoint
	http     *http.Client
	complain func(error)
	once     sync.Once
}

func newClient(to Endpoint, complain func(error)) *client {
	return &client{to: to, complain: complain, http: &http.Client{Timeout: requestTime,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// post sends a request. rejected is how many records of it the collector refused for good; sent is false when it may be
// sent again.
func (c *client) post(ctx context.Context, signal string, m message) (rejected int, sent bool) {
	answer, again, err := c.try(ctx, signal, m)
	if err == nil {
		return rejectedOf(answer), true
	}
	c.once.Do(func() { c.complain(fmt.Errorf("--otlp: cannot send %s: %w", signal, err)) })
	if again {
		return 0, false
	}
	return recordsOf(m), true
}

// try sends a request; again reports whether it makes sense to repeat it after an error.
func (c *client) try(ctx context.Context, signal string, m message) (answer []byte, again bool, err error) {
	raw, err := proto.Marshal(m)
	if err != nil {
		return nil, false, err
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(raw) // a buffer takes everything
	z.Close()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.to.base.JoinPath("v1", signal).String(), &b)
	if err != nil {
		return nil, false, err
	}
	for name, value := range c.to.headers {
		r.Header.Set(name, value)
	}
	r.Header.Set("Content-Type", "application/x-protobuf")
	r.Header.Set("Content-Encoding", "gzip")
	w, err := c.http.Do(r)
	if err != nil {
		return nil, true, err
	}
	defer w.Body.Close()
	answer, err = io.ReadAll(io.LimitReader(w.Body, mostAnswer))
	switch {
	case w.StatusCode/100 == 2:
		return answer, true, err
	case w.StatusCode == http.StatusTooManyRequests, w.StatusCode == http.StatusBadGateway, w.StatusCode == http.StatusServiceUnavailable,
		w.StatusCode == http.StatusGatewayTimeout:
		return nil, true, errors.New(w.Status)
	}
	return nil, false, errors.New(w.Status)
}

// rejectedOf returns how many records an answer says were refused: it has as field 1 a message whose field 1 is the
// number.
func rejectedOf(answer []byte) int {
	partial := field(answer, protowire.BytesType)
	inner, n := protowire.ConsumeBytes(partial)
	if n < 0 {
		return 0
	}
	count, n := protowire.ConsumeVarint(field(inner, protowire.VarintType))
	if n < 0 || int64(count) < 0 {
		return 0
	}
	return int(count)
}

// field returns a message from the value of its field 1 on; nil when it has none of the type.
func field(raw []byte, want protowire.Type) []byte {
	for len(raw) > 0 {
		number, kind, n := protowire.ConsumeTag(raw)
		if n < 0 {
			return nil
		}
		raw = raw[n:]
		if number == 1 && kind == want {
			return raw
		}
		if n = protowire.ConsumeFieldValue(number, kind, raw); n < 0 {
			return nil
		}
		raw = raw[n:]
	}
	return nil
}
