package arena

import (
	"math"
	"sync/atomic"

	"gotap/runtime/object"
	"gotap/runtime/snapshot"
	"gotap/runtime/value"
)

// hasFloats reports whether cells keep floats apart from integers.
func (st *Storage) hasFloats() bool {
	switch st.Kind {
	case object.KindSum, object.KindAvg, object.KindStats, object.KindMin, object.KindMax:
		return true
	}
	return false
}

// UpdateFloat adds a float to a cell of an aggregation. Kinds that know integers alone get the largest one that is not
// above it.
func (st *Storage) UpdateFloat(cell []uint64, v float64) {
	w := uint64(snapshot.WordOf(v))
	if v == 0 {
		w = uint64(snapshot.WordOf(0)) // negative zero would be nothing
	}
	switch st.Kind {
	default:
		st.Update(cell, value.FloatToInt(math.Floor(v)))
		return
	case object.KindSum, object.KindAvg:
		addFloat(&cell[cellFloat], w)
	case object.KindMin:
		leastFloat(&cell[cellFloat], w)
	case object.KindMax:
		mostFloat(&cell[cellFloat], w)
	case object.KindStats:
		st.sort(cell, object.SpreadFloatIndex(v), 1)
		leastFloat(&cell[cellFloats+1], w)
		mostFloat(&cell[cellFloats+2], w)
		addFloat(&cell[cellFloats+3], uint64(snapshot.WordOf(v*v)))
		addFloat(&cell[cellFloats], w)
	}
	add(&cell[cellCount], 1)
}

// AddFloat adds a float to an aggregation that has no keys.
func (st *Storage) AddFloat(v float64) {
	st.inCell(func(cell []uint64) { st.UpdateFloat(cell, v) })
}

// floatsIn returns what a copied cell has of floats.
func (st *Storage) floatsIn(cell []uint64) (f snapshot.Floats) {
	switch st.Kind {
	case object.KindMin:
		f.Min = snapshot.FloatWord(cell[cellFloat])
	case object.KindMax:
		f.Max = snapshot.FloatWord(cell[cellFloat])
	case object.KindStats:
		w := cell[cellFloats:]
		f = snapshot.Floats{Sum: snapshot.FloatWord(w[0]), Min: snapshot.FloatWord(w[1]), Max: snapshot.FloatWord(w[2]), Squares: snapshot.FloatWord(w[3])}
	default:
		f.Sum = snapshot.FloatWord(cell[cellFloat])
	}
	return f
}

// putFloats is the inverse of floatsIn.
func (st *Storage) putFloats(cell []uint64, f snapshot.Floats) {
	switch st.Kind {
	case object.KindMin:
		cell[cellFloat] = uint64(f.Min)
	case object.KindMax:
		cell[cellFloat] = uint64(f.Max)
	case object.KindStats:
		for i, w := range []snapshot.FloatWord{f.Sum, f.Min, f.Max, f.Squares} {
			cell[cellFloats+i] = uint64(w)
		}
	default:
		cell[cellFloat] = uint64(f.Sum)
	}
}

// mergeFloats adds the floats of a cell of stats to another one.
func mergeFloats(cell, from []uint64) {
	leastFloat(&cell[cellFloats+1], from[cellFloats+1])
	mostFloat(&cell[cellFloats+2], from[cellFloats+2])
	addFloat(&cell[cellFloats+3], from[cellFloats+3])
	addFloat(&cell[cellFloats], from[cellFloats])
}

// changeWord replaces a word by what a function makes of it, until no other thread has changed it meanwhile.
func changeWord(p *uint64, change func(old uint64) uint64) {
	for {
		old := atomic.LoadUint64(p)
		if now := change(old); now == old || atomic.CompareAndSwapUint64(p, old, now) {
			return
		}
	}
}

// addFloat adds to a sum of floats. One that is not a number stays what it is, bit by bit: of two that are not numbers
// the processor would keep the first operand, and which one that is would depend on the compiler.
func addFloat(p *uint64, w uint64) {
	v := snapshot.FloatWord(w).Float()
	changeWord(p, func(old uint64) uint64 {
		sum := snapshot.FloatWord(old).Float()
		if sum != sum {
			return old
		}
		return uint64(snapshot.WordOf(sum + v))
	})
}

// leastFloat lowers a minimum of floats. What is not a number changes nothing.
func leastFloat(p *uint64, w uint64) {
	extremeFloat(p, w, func(old, v float64) bool { return old <= v })
}

// mostFloat raises a maximum of floats.
func mostFloat(p *uint64, w uint64) {
	extremeFloat(p, w, func(old, v float64) bool { return old >= v })
}

// extremeFloat replaces an extreme, unless that stays. A word that is empty or not a number changes nothing.
func extremeFloat(p *uint64, w uint64, stays func(old, v float64) bool) {
	v := snapshot.FloatWord(w).Float()
	if w == 0 || v != v {
		return
	}
	changeWord(p, func(old uint64) uint64 {
		if old != 0 && stays(snapshot.FloatWord(old).Float(), v) {
			return old
		}
		return w
	})
}
