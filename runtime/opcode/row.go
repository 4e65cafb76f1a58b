package opcode

import "strings"

// rows has the row of each operation, nil where there is none; codes and names find rows by file code and by name.
var (
	rows  = indexRows(func(i int, _ *Row) int { return i })
	codes = indexRows(func(_ int, r *Row) int { return int(r.Code) })
	ops   = indexOps()
	names = indexNames()
)

func indexRows(key func(int, *Row) int) (index [256]*Row) {
	for i := range Table {
		index[key(i, &Table[i])] = &Table[i]
	}
	return index
}

func indexOps() map[*Row]Op {
	index := make(map[*Row]Op, len(Table))
	for i := range Table {
		index[&Table[i]] = Op(i)
	}
	return index
}

// indexNames finds rows by name. A name may stand twice, once with an operand and once without.
func indexNames() map[string][]*Row {
	index := make(map[string][]*Row, len(Table))
	for i := range Table {
		index[Table[i].Name] = append(index[Table[i].Name], &Table[i])
	}
	return index
}

// RowOf is the row of an operation, nil when there is no such operation.
func RowOf(op Op) *Row { return rows[op] }

// ByCode is the row with a file code, nil when there is none.
func ByCode(code byte) *Row { return codes[code] }

// ByName are the rows with a name.
func ByName(name string) []*Row { return names[name] }

// Names are the names of all operations.
func Names() []string {
	list := make([]string, len(Table))
	for i := range Table {
		list[i] = Table[i].Name
	}
	return list
}

// Op is the number of the row's operation. The row must be one of the Table.
func (r *Row) Op() Op { return ops[r] }

// Has reports whether the operation has all of the traits; one that does not exist has none.
func (op Op) Has(want Trait) bool { return rows[op] != nil && rows[op].Does.Has(want) }

// Conditional reports whether the operation jumps if the word it pops fulfils a condition.
func (r *Row) Conditional() bool {
	return r.Does.Has(Jumps) && r.In == "w" && r.Out == "" && !r.Does.Has(Moves)
}

// Unsafe reports whether the operation changes the target, which a program must be allowed to do.
func (r *Row) Unsafe() bool { return r.Needs&NeedUnsafe != 0 }

// Effect is how many words the operation with operand a pops and then pushes.
func (r *Row) Effect(a uint32) (pops, pushes int) { return words(r.In, a), words(r.Out, a) }

// words is how many words a half of a stack picture stands for.
func words(letters string, a uint32) (n int) {
	for _, l := range letters {
		if l < 'a' {
			n += int(a)
		} else {
			n++
		}
	}
	return n
}

// Reach is how many words must be on the stack, and how many there are then in their place: the effect, with the words
// that a Deep operation looks at or changes below those it pops.
func (r *Row) Reach(a uint32) (pops, pushes int) {
	pops, pushes = r.Effect(a)
	if r.Does.Has(Deep) {
		below := int(a) + 1 - pops // the word popped is the first of those below
		return pops + below, pushes + below
	}
	return pops, pushes
}

// Picture is the stack picture as documentation shows it: "( w w -- w )".
func (r *Row) Picture() string { return "( " + spaced(r.In) + "-- " + spaced(r.Out) + ")" }

// spaced sets a blank after each letter, and three dots after one that stands for several words.
func spaced(letters string) string {
	var b strings.Builder
	for _, l := range letters {
		if l < 'a' {
			b.WriteString(strings.ToLower(string(l)) + "…")
		} else {
			b.WriteRune(l)
		}
		b.WriteByte(' ')
	}
	return b.String()
}
