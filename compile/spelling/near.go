package spelling

import "strings"

// maxNear is how many similar names are offered.
const maxNear = 3

// Near returns the first names of have that resemble name: that differ by case, or by at most a third of the letters.
func Near(name string, have []string) []string {
	var out []string
	limit := max(1, len(name)/3)
	for _, h := range have {
		if strings.EqualFold(h, name) || Distance(name, h, limit) <= limit {
			out = append(out, h)
		}
		if len(out) == maxNear {
			break
		}
	}
	return out
}
