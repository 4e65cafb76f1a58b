package native

import (
	"fmt"

	"gotap/runtime"
	"gotap/runtime/arena"
	"gotap/runtime/opcode"
)

// planner makes a plan.
type planner struct {
	*Plan
	arena    *arena.Arena
	features Features
	reached  []int // operations to be followed
	edges    []edge
	visited  int
	logs     logs

	logsDiffer bool // two ways with different logs lead to an operation
}

// edge is a way that native code can go.
type edge struct{ from, to int }

// follow walks over the operations that native code reaches, and determines verdicts, depths and edges.
func (p *planner) follow() error {
	p.targets = make([]bool, len(p.Ops))
	for i := range p.Insts {
		if in := &p.Insts[i]; isLabel(in) && int(in.A) < len(p.Ops) {
			p.targets[in.A] = true
		}
	}
	if err := p.reach(-1, 0, 0, p.logs.one(&Log{})); err != nil {
		return err
	}
	for len(p.reached) > 0 {
		pc := p.reached[len(p.reached)-1]
		p.reached = p.reached[:len(p.reached)-1]
		if err := p.step(pc); err != nil {
			return err
		}
	}
	return nil
}

// isLabel reports whether the operand of an operation is a label.
func isLabel(in *runtime.Inst) bool {
	row := opcode.RowOf(in.Op)
	return row != nil && row.Operand == opcode.LabelOperand
}

// reach notes that native code gets to an operation with a depth and a log.
func (p *planner) reach(from, pc, depth int, log *Log) error {
	if pc >= len(p.Ops) {
		return &Refused{Reason: "it runs past its end"}
	}
	p.edges = append(p.edges, edge{from, pc})
	op := &p.Ops[pc]
	if op.Verdict != Unreached {
		if op.Depth != depth {
			return p.refused(pc, "it is reached with %d and with %d words on the stack", op.Depth, depth)
		}
		p.logsDiffer = p.logsDiffer || op.Log != log
		return nil
	}
	if p.visited++; p.visited > MaxOps {
		return &Refused{Reason: fmt.Sprintf("it has more than %d operations", MaxOps)}
	}
	op.Depth, op.Log, op.Verdict = depth, log, Native
	p.MaxDepth = max(p.MaxDepth, depth)
	p.reached = append(p.reached, pc)
	return nil
}

// refused returns an error about an operation.
func (p *planner) refused(pc int, format string, args ...any) error {
	return &Refused{p.Origin(pc), p.Insts[pc].Op, fmt.Sprintf(format, args...)}
}

// step decides about one operation, and follows it if it is native.
func (p *planner) step(pc int) error {
	op, in := &p.Ops[pc], &p.Insts[pc]
	pops, pushes, why := p.effect(in, op.Depth)
	if why == "" {
		why = p.lacks(pc)
	}
	if why == "" && p.fieldsAfter(pc) > MaxWords {
		why = "the log is too long"
	}
	if why != "" {
		op.Verdict, op.Why = Doorbell, why
		return nil
	}
	if in.Op == opcode.PushTV || in.Op == opcode.PopTV {
		p.Temps = max(p.Temps, int(in.A)+1)
	}
	after := op.Depth - pops + pushes
	p.MaxDepth = max(p.MaxDepth, after)
	log := p.logAfter(op.Log, pc)
	p.Fields = max(p.Fields, log.Fields)
	if p.MaxDepth+p.Temps+p.Fields > MaxWords {
		return p.refused(pc, "there are more than %d words on the stack and in scratch words", MaxWords)
	}
	row := opcode.RowOf(in.Op)
	jumps, decided := p.Decided(pc)
	if row.Does.Has(opcode.Jumps) && (jumps || !decided) {
		if err := p.reach(pc, int(in.A), after, log); err != nil {
			return err
		}
	}
	if row.Does.Has(opcode.Ends) || jumps {
		return nil
	}
	if in.Op == opcode.Loop {
		after--
	}
	return p.reach(pc, pc+1, after, log)
}

// fieldsAfter returns how many words there are, with all scratch words of the program, when an operation has added a
// field to the log; 0 for other operations.
func (p *planner) fieldsAfter(pc int) int {
	op := &p.Ops[pc]
	if n := p.logAfter(op.Log, pc).Fields; n > op.Log.Fields {
		return p.MaxDepth + max(p.Temps, min(p.Code.Temps, runtime.MaxTemps)) + n
	}
	return 0
}

// effect returns the effect of an operation on the stack, and why the machine would trap instead.
func (p *planner) effect(in *runtime.Inst, depth int) (pops, pushes int, why string) {
	row := opcode.RowOf(in.Op)
	if row == nil {
		return 0, 0, "there is no such operation"
	}
	if row.Operand == opcode.CountOperand && in.A >= runtime.MaxStack {
		return 0, 0, "its operand is too large"
	}
	pops, pushes = row.Reach(in.A)
	if pops > depth || depth-pops+pushes > p.Code.StackLimit() {
		return 0, 0, "the stack has too few words or too little room"
	}
	return pops, pushes, ""
}

// divide finds where blocks begin and how long they are.
func (p *planner) divide() {
	ways := make([]int, len(p.Ops))
	for _, e := range p.edges {
		op := &p.Ops[e.to]
		ways[e.to]++
		op.Join = op.Join || ways[e.to] > 1 || e.from >= e.to
		op.Block = op.Block || e.from != e.to-1 || e.from < 0 || p.Insts[e.from].Op.Has(opcode.Jumps)
	}
	block := 0
	for pc := range p.Ops {
		switch op := &p.Ops[pc]; {
		case op.Verdict == Unreached:
		case op.Block || op.Join:
			op.Block, block = true, pc
			fallthrough
		default:
			if op.Verdict == Native {
				p.Ops[block].Length++
			}
		}
	}
}

// assign finds the scratch words that are assigned wherever a block begins.
func (p *planner) assign() error {
	all := TempSet{}
	for i := range all {
		all[i] = ^uint64(0)
	}
	in := make([]TempSet, len(p.Ops))
	for pc := range in {
		in[pc] = all
	}
	in[0] = TempSet{}
	for changed := true; changed; {
		changed = false
		for _, e := range p.edges {
			if e.from < 0 {
				continue
			}
			out := in[e.from]
			if inst := &p.Insts[e.from]; inst.Op == opcode.PopTV {
				out.Add(inst.A)
			}
			if in[e.to].meet(&out) {
				changed = true
			}
		}
	}
	for pc := range p.Ops {
		inst := &p.Insts[pc]
		if p.Ops[pc].Verdict == Native && inst.Op == opcode.PushTV && !in[pc].Has(inst.A) {
			return p.refused(pc, "scratch word %d is read before it is assigned", inst.A)
		}
		if p.Ops[pc].Verdict != Unreached {
			p.Ops[pc].Assigned = in[pc]
		}
	}
	return nil
}

// count finds the numbers of steps, and decides whether they are counted at run time.
func (p *planner) count() {
	back, longest := p.longest()
	p.Limited = !p.Code.Bounded && (back || longest > p.Fuel)
	p.sameSteps()
	p.Counted = p.Limited
	for pc := range p.Ops {
		if op := &p.Ops[pc]; op.Steps == Varies && (op.Verdict == Doorbell || op.Verdict == Native && (op.Thread || op.Rings || op.Unsure || MayRing(&p.Insts[pc]))) {
			p.Counted = true
		}
	}
}

// longest reports whether there is a way back, and otherwise the most steps that native code can take.
func (p *planner) longest() (back bool, steps int) {
	most := make([]int, len(p.Ops)+1)
	from := make([][]int, len(p.Ops))
	for _, e := range p.edges {
		if e.from >= e.to {
			return true, 0
		}
		if e.from >= 0 {
			from[e.to] = append(from[e.to], e.from)
		}
	}
	for pc := range p.Ops {
		for _, f := range from[pc] {
			most[pc] = max(most[pc], most[f]+1)
		}
		steps = max(steps, most[pc]+1)
	}
	return false, steps
}

// sameSteps determines Op.Steps. A number only ever changes to Varies, so this ends.
func (p *planner) sameSteps() {
	known := make([]bool, len(p.Ops))
	known[0] = true
	for changed := true; changed; {
		changed = false
		for _, e := range p.edges {
			if e.from < 0 || !known[e.from] {
				continue
			}
			steps, to := p.Ops[e.from].Steps, &p.Ops[e.to]
			if steps != Varies {
				steps++
			}
			switch {
			case !known[e.to]:
				known[e.to], to.Steps, changed = true, steps, true
			case to.Steps != steps && to.Steps != Varies:
				to.Steps, changed = Varies, true
			}
		}
	}
}
