package place

import (
	"strconv"
	"strings"
	"time"
)

// The limits of the period of samples. More often than every millisecond, stopping threads costs more than what it
// shows.
const (
	ShortestPeriod = time.Millisecond
	longestPeriod  = time.Hour
)

// clocks are the times that samples go by, as in specifications.
const (
	cpuClock  = "cpu"
	wallClock = "wall"
)

// sampleHelp is the syntax of samples.
const sampleHelp = "samples are written sample:cpu/10ms or sample:wall/10ms"

// clock returns the name of the time that a sample goes by.
func (s Spec) clock() string {
	if s.Wall {
		return wallClock
	}
	return cpuClock
}

// sample reads cpu/PERIOD or wall/PERIOD.
func (p parser) sample(from int) (Spec, *SyntaxError) {
	clock, period, found := strings.Cut(p.text[from:], "/")
	at := from + len(clock)
	switch {
	case clock != cpuClock && clock != wallClock:
		return Spec{}, syntax(p.text, from, at, strconv.Quote(clock)+" is not cpu or wall", sampleHelp)
	case !found:
		return Spec{}, syntax(p.text, at, at, "the period is missing", sampleHelp)
	}
	d, err := time.ParseDuration(period)
	switch {
	case err != nil:
		return Spec{}, syntax(p.text, at+1, len(p.text), strconv.Quote(period)+" is not a period", sampleHelp)
	case d < ShortestPeriod || d > longestPeriod:
		return Spec{}, syntax(p.text, at+1, len(p.text), "a period is from "+ShortestPeriod.String()+" to an hour", sampleHelp)
	}
	return Spec{Kind: Sample, Period: d, Wall: clock == wallClock}, nil
}
