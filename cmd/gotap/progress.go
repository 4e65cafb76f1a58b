package main

import (
	"fmt"
	"os"
	"sync"
	"time"

	"gotap/compile/diag"
)

// progressPatience is how long work goes on before anyone is told that it is under way: most runs never get there.
const progressPatience = 500 * time.Millisecond

// progressEvery is how often the line is written anew.
const progressEvery = 100 * time.Millisecond

// progress is a line on a terminal's standard error that says what takes so long, and is gone when it is over. Everywhere else it
// is nothing: a file or a pipe gets no lines that come and go. It has a goroutine of its own between begin and end; step may be
// called by any.
type progress struct {
	to *os.File // nil: nobody is told

	mu    sync.Mutex // guards what follows, and the terminal while the line is written
	what  string
	since time.Time
	shown bool // the line is on the terminal

	quit    chan struct{} // nil: nothing is under way
	stopped sync.WaitGroup
}

// newProgress is the run's, for nobody when standard error is no terminal, with -q, and in the background.
func (r *run) newProgress() *progress {
	if r.plan.quiet || r.plan.background || !isTerminal(r.w.Stderr) {
		return &progress{}
	}
	return &progress{to: r.w.Stderr}
}

// begin starts to tell of work; end has to follow.
func (p *progress) begin(what string) {
	if p.to == nil {
		return
	}
	p.what, p.since, p.quit = what, time.Now(), make(chan struct{})
	p.stopped.Add(1)
	go p.run(p.quit)
}

// step says what is being done now.
func (p *progress) step(format string, args ...any) {
	if p.to == nil {
		return
	}
	p.mu.Lock()
	p.what = fmt.Sprintf(format, args...)
	p.mu.Unlock()
}

// end takes the line away. Twice is as well.
func (p *progress) end() {
	if p.quit == nil {
		return
	}
	close(p.quit)
	p.stopped.Wait()
	p.quit = nil
	p.clear()
}

// clear takes the line away before something else is written to the terminal; it comes again while the work goes on. Safe for
// concurrent use.
func (p *progress) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		p.shown = false
		fmt.Fprint(p.to, clearLine)
	}
}

// clearLine goes to the start of the line and empties it.
const clearLine = "\r\x1b[K"

func (p *progress) run(quit <-chan struct{}) {
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

// show writes the line, cut to the terminal: one that wraps could not be taken back.
func (p *progress) show(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	line := []rune(fmt.Sprintf("gotap: %s… %.1f s", diag.Escape(p.what), now.Sub(p.since).Seconds()))
	if width := columnsOf(p.to); width > 0 && len(line) >= width {
		line = line[:width-1]
	}
	p.shown = true
	fmt.Fprintf(p.to, "%s%s", clearLine, string(line))
}
