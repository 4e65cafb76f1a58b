package module

import (
	"debug/elf"
	"fmt"
	"strconv"
	"strings"

	"gotap/compile"
	"gotap/engine/image/symname"
)

// parseOperand reads an operand of a mark: "[-]SIZE[f]@PLACE", with a negative size for signed values and the place in
// the assembler's syntax of the machine. Old notes may lack the size.
func (f *File) parseOperand(raw string) Operand {
	o := Operand{Raw: raw, Size: f.WordSize()}
	at := raw
	// In notes without sizes, an "@" behind a register, a constant or a bracket belongs to the operand.
	if size, rest, ok := strings.Cut(raw, "@"); ok && size != "" && !strings.ContainsAny(size, "%$([") {
		at = rest
		if o.Err = o.parseSize(size); o.Err != nil {
			return o
		}
	}
	p := operandParser{f: f, o: &o}
	switch f.Machine {
	case elf.EM_X86_64, elf.EM_386:
		o.Access, o.Err = p.x86(at)
	case elf.EM_AARCH64, elf.EM_ARM:
		o.Access, o.Err = p.arm(at)
	default:
		o.Err = fmt.Errorf("marks of this processor are not known")
	}
	if o.Err != nil {
		o.Err = fmt.Errorf("cannot read operand %s: %w", raw, o.Err)
	}
	return o
}

// parseSize reads "-4" or "8f".
func (o *Operand) parseSize(text string) error {
	text, o.Float = strings.CutSuffix(text, "f")
	n, err := strconv.Atoi(text)
	o.Signed = n < 0
	o.Size = max(n, -n)
	if err != nil || o.Size != 1 && o.Size != 2 && o.Size != 4 && o.Size != 8 || o.Float && o.Size < 4 {
		return fmt.Errorf("cannot read operand %s: its size is not 1, 2, 4 or 8", o.Raw)
	}
	return nil
}

// operandParser converts the text of an operand to an access.
type operandParser struct {
	f *File
	o *Operand
}

// kind returns the type of the operand's value.
func (p operandParser) kind() compile.ValueType {
	if p.o.Float {
		return compile.TypeF64
	}
	return compile.TypeInt
}

// constant returns a constant of the operand's width and sign.
func (p operandParser) constant(v int64) compile.Access {
	// Compilers may write an unsigned constant as -202182160, so the size and the sign decide.
	if shift := 64 - 8*p.o.Size; p.o.Signed {
		v = v << shift >> shift
	} else {
		v = int64(uint64(v) << shift >> shift)
	}
	return compile.Access{Base: compile.BaseConst, Value: v, Type: compile.TypeInt}
}

// register returns a value in a register. For a pair of registers, which 32-bit code uses for 64-bit values, notes name
// only one.
func (p operandParser) register(name string) (compile.Access, error) {
	if p.f.Bits == 32 && p.o.Size == 8 && !strings.HasPrefix(name, "xmm") && !strings.HasPrefix(name, "st") {
		return compile.Access{}, fmt.Errorf("only half of it is in %s", name)
	}
	a := compile.Access{Base: compile.BaseReg, Reg: name, Type: p.kind()}
	if p.o.Size < 8 || p.o.Float {
		a.Steps = []compile.AccessStep{{Op: compile.OpTruncate, Size: p.o.Size, Signed: p.o.Signed, Float: p.o.Float}}
	}
	return a, registerName(name)
}

// memory returns a value in memory. On 32-bit machines, sums with an index wrap at 32 bits.
func (p operandParser) memory(a compile.Access) compile.Access {
	if p.f.Bits == 32 && len(a.Steps) > 0 {
		a.Steps = append(a.Steps, compile.AccessStep{Op: compile.OpTruncate, Size: 4})
	}
	a.Steps = append(a.Steps, compile.AccessStep{Op: compile.OpLoad, Size: p.o.Size, Signed: p.o.Signed, Float: p.o.Float})
	a.Type = p.kind()
	return a
}

// x86 reads AT&T syntax: "$5", "%rax", "-96(%rbp,%rax,8)", "counter+4(%rip)".
func (p operandParser) x86(at string) (compile.Access, error) {
	switch {
	case strings.HasPrefix(at, "$"):
		sym, n, err := p.sum(at[1:])
		if err != nil {
			return compile.Access{}, err
		}
		if sym == "" {
			return p.constant(n), nil
		}
		return p.symbol(sym, n)
	case strings.Contains(at, ":"): // "%fs:-8": the start of the segment is unknown
		return compile.Access{}, fmt.Errorf("it is relative to a segment, as thread-local variables are")
	case strings.HasPrefix(at, "%"):
		return p.register(at[1:])
	}
	disp, regs := at, ""
	if i := strings.IndexByte(at, '('); i >= 0 && strings.HasSuffix(at, ")") {
		disp, regs = at[:i], at[i+1:len(at)-1]
	}
	return p.x86Memory(disp, regs)
}

// x86Memory reads a displacement and "%base,%index,scale", each of which may be missing.
func (p operandParser) x86Memory(disp, regs string) (compile.Access, error) {
	sym, n, err := p.sum(disp)
	if err != nil {
		return compile.Access{}, err
	}
	// Two empty parts are added for missing ones.
	part := append(strings.Split(strings.ReplaceAll(regs, " ", ""), ","), "", "")
	base, index, scale := part[0], part[1], part[2]
	a := compile.Access{Base: compile.BaseConst, Value: n}
	relative := base == "%rip" || base == "%eip"
	if name, ok := strings.CutSuffix(sym, "@GOTOFF"); ok && (index == "" || scale != "" && scale != "1") {
		sym, relative = name, true // the symbol is relative to the base
	}
	if relative && sym == "" {
		return compile.Access{}, fmt.Errorf("it is relative to an instruction that the note does not name")
	}
	if sym != "" {
		if a, err = p.symbol(sym, n); err != nil {
			return compile.Access{}, err
		}
	}
	if base != "" && !relative {
		if err := p.addBase(&a, base); err != nil {
			return compile.Access{}, err
		}
	}
	if index != "" {
		if err := addIndex(&a, index, scale); err != nil {
			return compile.Access{}, err
		}
	}
	return p.memory(a), nil
}

// addBase adds a base register to an address that is a constant or a symbol.
func (p operandParser) addBase(a *compile.Access, reg string) error {
	if a.Base == compile.BaseAddr { // an access has one base, so the register becomes an index
		return addIndex(a, reg, "1")
	}
	a.Base, a.Reg = compile.BaseRegOffset, strings.TrimPrefix(reg, "%")
	return registerName(a.Reg)
}

// addIndex adds a register times a factor.
func addIndex(a *compile.Access, reg, scale string) error {
	factor := 1
	if scale != "" {
		var err error
		if factor, err = strconv.Atoi(scale); err != nil || factor != 1 && factor != 2 && factor != 4 && factor != 8 {
			return fmt.Errorf("the factor %q is not 1, 2, 4 or 8", scale)
		}
	}
	name := strings.TrimPrefix(reg, "%")
	a.Steps = append(a.Steps, compile.AccessStep{Op: compile.OpIndex, Reg: name, Size: factor})
	return registerName(name)
}

// registerName refuses text that cannot be the name of a register. The engine checks whether the register exists.
func registerName(name string) error {
	for i := 0; i < len(name); i++ {
		if !symname.IsIdent(name[i]) || name[i] >= 0x80 {
			return fmt.Errorf("%q is not a register", name)
		}
	}
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		return fmt.Errorf("%q is not a register", name)
	}
	return nil
}

// sum reads numbers and at most one symbol, combined by plus and minus: "-8+16", "table+4".
func (p operandParser) sum(text string) (symbol string, n int64, err error) {
	for rest := strings.ReplaceAll(text, " ", ""); rest != ""; {
		sign := int64(1)
		for rest != "" && (rest[0] == '+' || rest[0] == '-') {
			if rest[0] == '-' {
				sign = -sign
			}
			rest = rest[1:]
		}
		end := strings.IndexAny(rest, "+-")
		if end < 0 {
			end = len(rest)
		}
		term := rest[:end]
		rest = rest[end:]
		if v, ok := number(term); ok {
			n += sign * v
			continue
		}
		if term == "" || symbol != "" || sign < 0 || term[0] >= '0' && term[0] <= '9' {
			return "", 0, fmt.Errorf("%q is not an address", text)
		}
		symbol = term
	}
	return symbol, n, nil
}

// number reads a decimal, octal or hexadecimal number of up to 64 bits.
func number(text string) (int64, bool) {
	// Assemblers sometimes print negative addresses as large unsigned numbers.
	if u, err := strconv.ParseUint(text, 0, 64); err == nil {
		return int64(u), true
	}
	i, err := strconv.ParseInt(text, 0, 64)
	return i, err == nil
}

// symbol returns the address of a variable or function of the same file.
func (p operandParser) symbol(name string, offset int64) (compile.Access, error) {
	if strings.Contains(name, "@") {
		return compile.Access{}, fmt.Errorf("it goes through the table %s", name[strings.Index(name, "@")+1:])
	}
	a := compile.Access{Base: compile.BaseAddr, Type: compile.TypeInt}
	addr, tls, ok := p.f.AddrOf(name)
	switch {
	case !ok:
		return a, fmt.Errorf("the file has no symbol %s", name)
	case tls:
		return a, fmt.Errorf("%s is thread-local", name)
	}
	a.Value = int64(addr) + offset
	return a, nil
}

// arm reads the syntax of both ARM architectures: "x0", "5", "#5", "[sp, 12]", "[r3, #-8]", "[x0, x1, lsl 3]".
func (p operandParser) arm(at string) (compile.Access, error) {
	if v, ok := number(strings.TrimPrefix(at, "#")); ok {
		return p.constant(v), nil
	}
	inner, ok := strings.CutPrefix(at, "[")
	if !ok {
		return p.register(at)
	}
	inner, ok = strings.CutSuffix(inner, "]")
	part := strings.Split(inner, ",")
	for i := range part {
		part[i] = strings.TrimSpace(part[i])
	}
	if !ok || len(part) > 3 {
		return compile.Access{}, fmt.Errorf("%q is not an address", at)
	}
	a := compile.Access{Base: compile.BaseRegOffset, Reg: part[0]}
	if err := registerName(part[0]); err != nil {
		return a, err
	}
	if len(part) == 1 {
		return p.memory(a), nil
	}
	if v, ok := number(strings.TrimPrefix(part[1], "#")); ok && len(part) == 2 {
		a.Value = v
		return p.memory(a), nil
	}
	shift := strings.Join(part[2:], "")
	if err := armIndex(&a, part[1], shift); err != nil {
		return a, err
	}
	return p.memory(a), nil
}

// armIndex adds a register shifted left: "", "lsl 3", "lsl #2", "sxtw 2", "uxtw".
func armIndex(a *compile.Access, reg, shift string) error {
	how, amount, _ := strings.Cut(shift, " ")
	n := 0
	if amount != "" {
		var err error
		if n, err = strconv.Atoi(strings.TrimPrefix(amount, "#")); err != nil || n < 0 || n > 3 {
			return fmt.Errorf("the shift %q is not 0 to 3", amount)
		}
	}
	if how != "" && how != "lsl" && how != "sxtw" && how != "uxtw" && how != "sxtx" {
		return fmt.Errorf("%q is not a known shift", how)
	}
	if err := addIndex(a, reg, strconv.Itoa(1<<n)); err != nil {
		return err
	}
	a.Steps[len(a.Steps)-1].Signed = how == "sxtw"
	return nil
}
