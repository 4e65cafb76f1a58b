package output

import (
	"bufio"
	"io"
	"sync"
)

// stream is a buffered writer that remembers its first error and is silent afterwards.
type stream struct {
	mu  sync.Mutex
	w   *bufio.Writer
	to  io.Writer // what w writes to
	err error
}

// bufferSize is what is written in one system call when much is printed.
const bufferSize = 64 << 10

func newStream(w io.Writer) *stream { return &stream{w: bufio.NewWriterSize(w, bufferSize), to: w} }

// write calls f with the writer unless a write has failed before.
func (s *stream) write(f func(w io.Writer) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = f(s.w)
	}
}

// text writes a text as it is.
func (s *stream) text(t string) {
	s.write(func(w io.Writer) error {
		_, err := io.WriteString(w, t)
		return err
	})
}

// bytes writes bytes as they are.
func (s *stream) bytes(p []byte) {
	s.write(func(w io.Writer) error {
		_, err := w.Write(p)
		return err
	})
}

// restart has what is written next take the place of what was written so far, where the writer can do that.
func (s *stream) restart() {
	s.flush()
	s.mu.Lock()
	defer s.mu.Unlock()
	if r, ok := s.to.(interface{ Restart() }); ok {
		r.Restart()
	}
}

// flush writes out what is buffered.
func (s *stream) flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = s.w.Flush()
	}
}

// error returns the first failed write.
func (s *stream) error() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}
