package place

import (
	"strings"

	"gotap/compile/spelling"
	"gotap/engine/image/module"
	"gotap/engine/image/symname"
)

// marks resolves usdt:PROVIDER:NAME. A mark in a function that was inlined is in several places, and all are returned.
func marks(s Spec, f *module.File) ([]Target, error) {
	all, err := f.Marks()
	if err != nil {
		return nil, err
	}
	// Suggestions are cheap, because the whole list is searched anyway.
	missing := &NotFoundError{Spec: s, What: NoMark, Searched: []string{f.Path}}
	var found []Target
	for i := range all {
		m := &all[i]
		full := m.Provider + ":" + m.Name
		if matchMark(s.Provider, m.Provider) && matchMark(s.Name, m.Name) {
			t := At(f, m.PC)
			t.Mark, t.Name = m, "usdt:"+full
			found = append(found, t)
		} else if len(missing.Suggestions) < 3 && nearMark(s, m) {
			missing.Suggestions = addOnce(missing.Suggestions, []string{"usdt:" + full})
		}
	}
	if len(found) == 0 {
		return nil, missing
	}
	return found, nil
}

// matchMark compares names of marks as SystemTap and DTrace do: a dash stands for two underscores.
func matchMark(pattern, name string) bool {
	return matchName(pattern, name) || strings.Contains(pattern, "-") && !symname.IsGlob(pattern) &&
		strings.ReplaceAll(pattern, "-", "__") == name
}

// nearMark reports whether a mark resembles the wanted one.
func nearMark(s Spec, m *module.Mark) bool {
	alike := func(asked, name string) bool {
		slips := max(1, len(asked)/4)
		return matchMark(asked, name) || len(asked) > slips && spelling.Distance(asked, name, slips) <= slips
	}
	return s.Name == m.Name || s.Provider == m.Provider && len(s.Name) > 1 && strings.HasPrefix(m.Name, s.Name[:2]) ||
		alike(s.Provider, m.Provider) && alike(s.Name, m.Name)
}
