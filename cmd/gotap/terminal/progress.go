package terminal

import (
	"fmt"
	"os"
	"sync"
	"time"

	"gotap/compile/diag"
)

// progressPatience is how long work takes before the line appears: in most runs it never does.
const progressPatience = 500 * time.Millisecond

// progressEvery is the time between updates of the line.
const progressEvery = 100 * time.Millisecond

// A Progress is a line on a terminal that shows what takes long, and that is removed when it is done. It has a
// goroutine of its own between begin and end. Set is called by one goroutine at a time, Clear by any.
type Progress struct {
	to *os.File // nil: nothing is shown

	mu    sync.Mutex // guards what follows, and the terminal while the line is written
	what  string
	since time.Time
	shown bool // the line is on the terminal

	quit    chan struct{} // nil: nothing is under way
	stopped sync.WaitGroup
}

// NewProgress returns a line on a terminal; nil stands for none, on which nothing is ever shown.
func NewProgress(to *os.File) *Progress { return &Progress{to: to} }

// Set shows what is being done; "" when it is done.
func (p *Progress) Set(what string) {
	switch {
	case what == "":
		p.end()
	case p.quit == nil:
		p.begin(what)
	default:
		p.step("%s", what)
	}
}

// begin starts to show work; end has to follow.
func (p *Progress) begin(what string) {
	if p.to == nil {
		return
	}
	p.what, p.since, p.quit = what, time.Now(), make(chan struct{})
	p.stopped.Add(1)
	go p.run(p.quit)
}

// step changes what is shown.
func (p *Progress) step(format string, args ...any) {
	if p.to == nil {
		return
	}
	p.mu.Lock()
	p.what = fmt.Sprintf(format, args...)
	p.mu.Unlock()
}

// end removes the line. It may be called twice.
func (p *Progress) end() {
	if p.quit == nil {
		return
	}
	close(p.quit)
	p.stopped.Wait()
	p.quit = nil
	p.Clear()
}

// Clear removes the line before something else is written to the terminal; it comes back while the work goes on. Safe
// for concurrent use.
func (p *Progress) Clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		p.shown = false
		fmt.Fprint(p.to, clearLine)
	}
}

// clearLine moves to the start of the line and clears it.
const clearLine = "\r\x1b[K"

func (p *Progress) run(quit <-chan struct{}) {
	defer p.stopped.Done()
	next := time.NewTimer(progressPatience)
	defer next.Stop()
	for {
		select {
		case <-quit:
			return
		case now := <-next.C:
			p.show(now)
			next.Reset(progressEvery)
		}
	}
}

// show writes the line, cut to the width of the terminal: a line that wraps could not be erased.
func (p *Progress) show(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	line := []rune(fmt.Sprintf("gotap: %s… %.1f s", diag.Escape(p.what), now.Sub(p.since).Seconds()))
	if width := Columns(p.to); width > 0 && len(line) >= width {
		line = line[:width-1]
	}
	p.shown = true
	fmt.Fprintf(p.to, "%s%s", clearLine, string(line))
}
