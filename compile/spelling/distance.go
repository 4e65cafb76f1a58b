package spelling

// Longest is the longest name that is compared, in bytes. Longer names are mangled symbols, which nobody types, and the
// work grows with the product of the lengths.
const Longest = 200

// Distance returns how many slips turn a into b, or limit+1 when that is more than limit or a name is longer than
// Longest. Bytes are compared, so a letter outside of ASCII counts for as many as it has; case counts, unless the
// caller folds it.
func Distance(a, b string, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit || len(a) > Longest || len(b) > Longest {
		return limit + 1
	}
	// Three rows of the table whose cell (i, j) is the distance of the first i bytes of a and the first j of b: swapped
	// neighbours look back two rows.
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		least := i
		for j := 1; j <= len(b); j++ {
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+differ(a[i-1], b[j-1]))
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
			least = min(least, row[j])
		}
		if least > limit { // no later row has less: a row's least grows by one at most, and a swap adds one to that of two rows back
			return limit + 1
		}
		before, last, row = last, row, before
	}
	return min(last[len(b)], limit+1)
}

func differ(a, b byte) int {
	if a == b {
		return 0
	}
	return 1
}
