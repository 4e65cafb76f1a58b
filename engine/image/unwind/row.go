package unwind

import (
	"fmt"
	"slices"
)

// ruleKind is the way in which a register of the caller, or the canonical frame address, is found (DWARF 5, 6.4.1).
type ruleKind uint8

const (
	ruleSame       ruleKind = iota // unchanged
	ruleUndefined                  // lost; for the return address: no caller
	ruleOffset                     // saved at CFA + off
	ruleValOffset                  // the value is CFA + off
	ruleRegister                   // the value of register reg; for the CFA: register reg + off
	ruleExpression                 // saved at the address that expr computes
	ruleValExpr                    // the value that expr computes
)

// rule describes how one register is found.
type rule struct {
	target uint8 // the register the rule is for
	kind   ruleKind
	reg    uint8
	off    int64
	expr   []byte
}

// row is the call-frame information for one address. It is immutable once published.
type row struct {
	pc     uint64
	cfa    rule
	rules  []rule // ordered by register; registers without a rule keep their values
	ra     uint8
	signal bool
	signed bool   // the return address carries a pointer authentication code (arm64)
	table  bool   // from a table that describes complete frames only (ARM): see partial.go
	start  uint64 // start of the function, for such a table
}

// machine runs CFA programs, whose instructions change a table of rules as the location advances.
type machine struct {
	*fde
	names   *regNames
	loc, pc uint64
	cfa     rule
	regs    [maxRegs]rule
	initial [maxRegs]rule // the rules after the common part, for DW_CFA_restore
	stack   []saved
	signed  bool
}

// saved is the state that DW_CFA_remember_state saves.
type saved struct {
	cfa    rule
	regs   [maxRegs]rule
	signed bool
}

// maxRemembered limits the stack of remembered states; compilers nest one or two.
const maxRemembered = 64

// row runs the programs of the entry up to pc.
func (f *fde) row(pc uint64, names *regNames) (*row, error) {
	m := machine{fde: f, names: names, loc: f.lo, pc: pc}
	if err := m.run(f.cie.program); err != nil {
		return nil, err
	}
	m.initial = m.regs
	if err := m.run(f.program); err != nil {
		return nil, err
	}
	// Rows outlive the file, which may be truncated while it is mapped, so they copy expressions.
	r := &row{pc: pc, cfa: m.cfa, ra: f.ra, signal: f.signal, signed: m.signed}
	r.cfa.expr = slices.Clone(r.cfa.expr)
	for i, rule := range m.regs {
		if rule.kind != ruleSame {
			rule.target, rule.expr = uint8(i), slices.Clone(rule.expr)
			r.rules = append(r.rules, rule)
		}
	}
	return r, nil
}

// The CFA instructions (DWARF 5, 7.24). The first three carry an operand in their low six bits.
const (
	cfaAdvanceLoc       = 0x40
	cfaOffset           = 0x80
	cfaRestore          = 0xc0
	cfaNop              = 0x00
	cfaSetLoc           = 0x01
	cfaAdvanceLoc1      = 0x02
	cfaAdvanceLoc2      = 0x03
	cfaAdvanceLoc4      = 0x04
	cfaOffsetExtended   = 0x05
	cfaRestoreExtended  = 0x06
	cfaUndefined        = 0x07
	cfaSameValue        = 0x08
	cfaRegister         = 0x09
	cfaRememberState    = 0x0a
	cfaRestoreState     = 0x0b
	cfaDefCFA           = 0x0c
	cfaDefCFARegister   = 0x0d
	cfaDefCFAOffset     = 0x0e
	cfaDefCFAExpression = 0x0f
	cfaExpression       = 0x10
	cfaOffsetExtendedSF = 0x11
	cfaDefCFASF         = 0x12
	cfaDefCFAOffsetSF   = 0x13
	cfaValOffset        = 0x14
	cfaValOffsetSF      = 0x15
	cfaValExpression    = 0x16
	cfaNegateRAState    = 0x2d // arm64; on SPARC the register window
	cfaGNUArgsSize      = 0x2e
	cfaGNUNegOffset     = 0x2f
)

// run executes a program until it ends or the location passes pc.
func (m *machine) run(program []byte) error {
	r := &reader{data: program}
	for r.more() && m.loc <= m.pc {
		op := r.u8()
		if m.advance(op, r) {
			continue
		}
		if err := m.exec(op, r); err != nil {
			return err
		}
	}
	return r.err
}

// advance executes the instructions that move the location, and reports whether op is one of them.
func (m *machine) advance(op uint8, r *reader) bool {
	switch {
	case op&0xc0 == cfaAdvanceLoc:
		m.loc += uint64(op&0x3f) * m.codeAlign
	case op == cfaSetLoc:
		m.loc = r.word(m.names.word)
	case op == cfaAdvanceLoc1, op == cfaAdvanceLoc2, op == cfaAdvanceLoc4:
		m.loc += r.word(1<<(op-cfaAdvanceLoc1)) * m.codeAlign
	default:
		return false
	}
	return true
}

// exec executes an instruction that changes rules.
func (m *machine) exec(op uint8, r *reader) error {
	switch op & 0xc0 {
	case cfaOffset:
		return m.set(uint64(op&0x3f), rule{kind: ruleOffset, off: int64(r.uleb()) * m.dataAlign})
	case cfaRestore:
		return m.restore(uint64(op & 0x3f))
	}
	switch op {
	case cfaNop:
	case cfaRememberState:
		if len(m.stack) == maxRemembered {
			return fmt.Errorf("call-frame information of %#x nests too deep", m.pc)
		}
		m.stack = append(m.stack, saved{m.cfa, m.regs, m.signed})
	case cfaRestoreState:
		return m.recall()
	case cfaNegateRAState:
		m.signed = !m.signed
	case cfaGNUArgsSize:
		r.uleb()
	case cfaDefCFA, cfaDefCFASF, cfaDefCFARegister, cfaDefCFAOffset, cfaDefCFAOffsetSF, cfaDefCFAExpression:
		return m.defCFA(op, r)
	default:
		return m.setRule(op, r)
	}
	return nil
}

// recall restores the last remembered state.
func (m *machine) recall() error {
	n := len(m.stack) - 1
	if n < 0 {
		return fmt.Errorf("call-frame information of %#x restores a state that was not remembered", m.pc)
	}
	m.cfa, m.regs, m.signed = m.stack[n].cfa, m.stack[n].regs, m.stack[n].signed
	m.stack = m.stack[:n]
	return nil
}

// defCFA executes an instruction that defines the canonical frame address.
func (m *machine) defCFA(op uint8, r *reader) error {
	switch op {
	case cfaDefCFA, cfaDefCFASF:
		m.cfa = rule{kind: ruleRegister, reg: m.reg(r)}
		if op == cfaDefCFA {
			m.cfa.off = int64(r.uleb())
		} else {
			m.cfa.off = r.sleb() * m.dataAlign
		}
	case cfaDefCFARegister:
		m.cfa = rule{kind: ruleRegister, reg: m.reg(r), off: m.cfa.off}
	case cfaDefCFAOffset:
		m.cfa.off = int64(r.uleb())
	case cfaDefCFAOffsetSF:
		m.cfa.off = r.sleb() * m.dataAlign
	case cfaDefCFAExpression:
		m.cfa = rule{kind: ruleValExpr, expr: r.bytes(int(r.uleb()))}
	}
	return r.err
}

// setRule executes an instruction that sets the rule of one register.
func (m *machine) setRule(op uint8, r *reader) error {
	reg := r.uleb()
	switch op {
	case cfaOffsetExtended:
		return m.set(reg, rule{kind: ruleOffset, off: int64(r.uleb()) * m.dataAlign})
	case cfaOffsetExtendedSF:
		return m.set(reg, rule{kind: ruleOffset, off: r.sleb() * m.dataAlign})
	case cfaGNUNegOffset:
		return m.set(reg, rule{kind: ruleOffset, off: -int64(r.uleb()) * m.dataAlign})
	case cfaValOffset:
		return m.set(reg, rule{kind: ruleValOffset, off: int64(r.uleb()) * m.dataAlign})
	case cfaValOffsetSF:
		return m.set(reg, rule{kind: ruleValOffset, off: r.sleb() * m.dataAlign})
	case cfaRestoreExtended:
		return m.restore(reg)
	case cfaUndefined:
		return m.set(reg, rule{kind: ruleUndefined})
	case cfaSameValue:
		return m.set(reg, rule{})
	case cfaRegister:
		return m.set(reg, rule{kind: ruleRegister, reg: m.reg(r)})
	case cfaExpression:
		return m.set(reg, rule{kind: ruleExpression, expr: r.bytes(int(r.uleb()))})
	case cfaValExpression:
		return m.set(reg, rule{kind: ruleValExpr, expr: r.bytes(int(r.uleb()))})
	}
	return fmt.Errorf("call-frame instruction %#x is unknown", op)
}

// reg reads the number of a register whose value a rule needs. For numbers beyond the general registers it returns a
// register that has no value.
func (m *machine) reg(r *reader) uint8 { return uint8(min(r.uleb(), maxRegs-1)) }

// set sets the rule of a register. It ignores registers that no walk needs, such as vectors.
func (m *machine) set(reg uint64, rule rule) error {
	if reg < maxRegs {
		m.regs[reg] = rule
	}
	return nil
}

func (m *machine) restore(reg uint64) error {
	if reg < maxRegs {
		m.regs[reg] = m.initial[reg]
	}
	return nil
}
