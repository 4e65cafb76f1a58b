package lines

import (
	"gotap/engine/image/debuginfo/function"
)

// run is a stretch of code of a line that is not interrupted by code of other lines.
type run struct {
	lo, hi uint64
	stop   uint64          // where to stop: the first statement, or lo
	stmt   bool            // stop is the start of a statement
	block  *function.Scope // the innermost inlined call, or the function
}

// extend adds a row to a run. The stop is moved to the first row that starts a statement.
func (r *run) extend(row Row, hi uint64) {
	r.hi = max(r.hi, hi)
	if row.stmt && !r.stmt {
		r.stop, r.stmt = row.addr, true
	}
}

// best removes runs that do not start a statement, and runs without an instruction. The former are parts of statements
// that start elsewhere, the latter are left where an optimiser moved a statement away. When nothing would remain, it
// removes fewer.
func best(runs []run) []run {
	for _, good := range []func(*run) bool{
		func(r *run) bool { return r.stmt && r.hi > r.stop },
		func(r *run) bool { return r.stmt },
	} {
		var out []run
		for i := range runs {
			if good(&runs[i]) {
				out = append(out, runs[i])
			}
		}
		if out != nil {
			return out
		}
	}
	return runs
}
