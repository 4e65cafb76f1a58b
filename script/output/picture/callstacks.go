package picture

// callStacks returns the calls by the calls that they are inside of: the time that each has spent itself, and how many
// there are.
func (p *Picture) callStacks() []Stacks {
	if len(p.Calls) == 0 {
		return nil
	}
	own := make([]int64, len(p.Calls))
	for i, c := range p.Calls {
		own[i] += int64(c.Took)
		if c.Outer >= 0 {
			own[c.Outer] -= int64(c.Took)
		}
	}
	times, counts := newFolder(), newFolder()
	inTimes, inCounts := make([]int, len(p.Calls)), make([]int, len(p.Calls)) // the stacks of the calls
	for i, c := range p.Calls {
		if c.Outer >= 0 {
			inTimes[i], inCounts[i] = inTimes[c.Outer], inCounts[c.Outer]
		} else {
			callers := c.callers()
			inTimes[i], inCounts[i] = times.stack(callers...), counts.stack(callers...)
		}
		inTimes[i], inCounts[i] = times.inside(inTimes[i], c.Func), counts.inside(inCounts[i], c.Func)
		times.add(inTimes[i], own[i])
		counts.add(inCounts[i], 1)
	}
	return []Stacks{times.stacks("time in calls", "nanoseconds"), counts.stacks("calls", "count")}
}

// callers returns the frames around a call that is inside of no other, outermost first.
func (c Call) callers() []string {
	frames := []string{c.Comm}
	if len(c.Stack) > 1 {
		frames = append(frames, outermost(c.Stack[1:])...)
	}
	return frames
}
