package live

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"gotap/script/output"
	"gotap/script/output/html"
	"gotap/script/output/openmetrics"
)

// Limits of a server.
const (
	mostConnections = 64
	mostPages       = 16               // that are open and get the data again and again
	headerTime      = 5 * time.Second  // for a request to arrive
	writeTime       = 10 * time.Second // for a part of an answer to leave
	idleTime        = 30 * time.Second // for a connection without a request
	endTime         = time.Second      // for answers at the end of the run
	headerBytes     = 16 << 10
)

// pageTime is how often an open page gets the data.
var pageTime = time.Second

// A Server serves a board as a page, / and /events, and as metrics, /metrics. It is a sink because it ends with the
// run.
type Server struct {
	output.Sink // drops everything
	board       *Board
	listener    net.Listener
	token       string // "": none is needed, and requests have to name this machine
	http        *http.Server
	pages       chan struct{} // a place for each open page
	ended       chan struct{} // closed at the end of the run
	once        sync.Once
}

// Listen begins to serve at an address, which ParseAddress has checked. Requests need the token, if there is one.
func Listen(board *Board, address, token string) (*Server, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	s := &Server{Sink: output.Discard, board: board, listener: newBounded(l, mostConnections), token: token, pages: make(chan struct{}, mostPages), ended: make(chan struct{})}
	s.http = &http.Server{Handler: s.guarded(), ReadHeaderTimeout: headerTime, ReadTimeout: headerTime, IdleTimeout: idleTime, MaxHeaderBytes: headerBytes,
		ErrorLog: log.New(io.Discard, "", 0)}
	go s.http.Serve(s.listener)
	return s, nil
}

// NewToken returns a token that nobody can guess.
func NewToken() string { return rand.Text() }

// URL returns the address of the page, with the token in it or without.
func (s *Server) URL(token bool) string {
	u := url.URL{Scheme: "http", Host: s.listener.Addr().String(), Path: "/"}
	if token {
		u.RawQuery = url.Values{"token": {s.token}}.Encode()
	}
	return u.String()
}

// guarded returns the handler of all requests.
func (s *Server) guarded() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.page)
	mux.HandleFunc("GET /events", s.events)
	mux.HandleFunc("GET /metrics", s.metrics)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTime))
		switch {
		case s.token == "" && !isLocalName(r.Host):
			http.Error(w, "gotap serves this machine only: name it localhost, or give it a token", http.StatusForbidden)
		case s.token != "" && !s.authorized(r):
			h.Set("WWW-Authenticate", "Bearer")
			http.Error(w, "a token is needed: /?token=TOKEN, or the header Authorization: Bearer TOKEN", http.StatusUnauthorized)
		default:
			mux.ServeHTTP(w, r)
		}
	})
}

// authorized reports whether a request has the token: in its header, or in its URL, since a page cannot set headers of
// events.
func (s *Server) authorized(r *http.Request) bool {
	given, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !bearer {
		given = r.URL.Query().Get("token")
	}
	return subtle.ConstantTimeCompare([]byte(given), []byte(s.token)) == 1
}

// page answers with the page as it is now.
func (s *Server) page(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	html.WriteLive(w, s.board.Picture())
}

// metrics answers with the metrics as they are now.
func (s *Server) metrics(w http.ResponseWriter, r *http.Request) {
	if err := openmetrics.Respond(w, r, s.board.Metrics()); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

// events sends the data of the page as server-sent events, whenever they have changed, and "end" when the run has
// ended.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	select {
	case s.pages <- struct{}{}:
		defer func() { <-s.pages }()
	default:
		http.Error(w, fmt.Sprintf("%d pages are open already", mostPages), http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	control, tick := http.NewResponseController(w), time.NewTicker(pageTime)
	control.SetReadDeadline(time.Time{})
	control.Flush() // the page is connected before there are data
	defer tick.Stop()
	var sent []byte
	for {
		over := false
		select {
		case <-r.Context().Done():
			return
		case <-s.ended:
			over = true
		case <-tick.C:
		}
		now, err := html.Data(s.board.Picture())
		if err != nil {
			return
		}
		control.SetWriteDeadline(time.Now().Add(writeTime))
		if !bytes.Equal(now, sent) {
			_, err = fmt.Fprintf(w, "data: %s\n\n", now)
			sent = now
		} else {
			_, err = io.WriteString(w, ": nothing new\n\n") // notices a page that has gone
		}
		if over && err == nil {
			_, err = io.WriteString(w, "event: end\ndata:\n\n")
		}
		if err != nil || control.Flush() != nil || over {
			return
		}
	}
}

// End implements output.Sink: open pages get the last data, and the server ends.
func (s *Server) End(output.End) { s.Close() }

// Close ends the server. Closing again does nothing.
func (s *Server) Close() {
	s.once.Do(func() {
		close(s.ended)
		ctx, cancel := context.WithTimeout(context.Background(), endTime)
		defer cancel()
		if err := s.http.Shutdown(ctx); errors.Is(err, context.DeadlineExceeded) {
			s.http.Close()
		}
	})
}

// A bounded listener has at most so many connections at a time; further ones wait until one ends.
type bounded struct {
	net.Listener
	room chan struct{}
	done chan struct{}
	once *sync.Once
}

func newBounded(l net.Listener, most int) *bounded {
	return &bounded{l, make(chan struct{}, most), make(chan struct{}), new(sync.Once)}
}

// Accept implements net.Listener.
func (b *bounded) Accept() (net.Conn, error) {
	select {
	case b.room <- struct{}{}:
	case <-b.done:
		return nil, net.ErrClosed
	}
	c, err := b.Listener.Accept()
	if err != nil {
		<-b.room
		return nil, err
	}
	return &counted{Conn: c, leave: func() { <-b.room }}, nil
}

// Close implements net.Listener.
func (b *bounded) Close() error {
	b.once.Do(func() { close(b.done) })
	return b.Listener.Close()
}

// A counted connection makes room when it is closed.
type counted struct {
	net.Conn
	leave func()
	once  sync.Once
}

// Close implements net.Conn.
func (c *counted) Close() error {
	c.once.Do(c.leave)
	return c.Conn.Close()
}
