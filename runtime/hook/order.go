package hook

import "cmp"

// Position is where among the exits of a hook one wants to be.
type Position uint8

// The positions.
const (
	Unspecified Position = iota // between first and last, by priority
	First
	Last
	Only // alone
)

var positionNames = [...]string{"unspecified", "first", "last", "only"}

// String is the position's word.
func (p Position) String() string {
	if int(p) < len(positionNames) {
		return positionNames[p]
	}
	return "invalid"
}

// ParsePosition understands "first", "last", "only" and "unspecified".
func ParsePosition(word string) (Position, bool) {
	for p, name := range positionNames {
		if name == word {
			return Position(p), true
		}
	}
	return 0, false
}

// Order is what an exit asks for when it is registered. The zero Order is for exits to which it does not matter.
type Order struct {
	Position Position
	Priority int  // among Unspecified ones: lower numbers are called earlier
	Newest   bool // before those of the same priority that are there already, instead of behind them
}

// Excludes reports whether two exits cannot be registered with one hook: one of them wants to be alone, or both are to
// be the first, or the last.
func (o Order) Excludes(other Order) bool {
	p, q := o.Position, other.Position
	return p == Only || q == Only || p != Unspecified && p == q
}

// rank is the part of the chain that a position is in.
func (p Position) rank() int {
	switch p {
	case First:
		return 0
	case Last:
		return 2
	}
	return 1
}

// Compare orders by position and priority, as cmp.Compare does; 0 leaves it to who came first.
func (o Order) Compare(other Order) int {
	if c := cmp.Compare(o.Position.rank(), other.Position.rank()); c != 0 || o.Position.rank() != 1 {
		return c
	}
	return cmp.Compare(o.Priority, other.Priority)
}
