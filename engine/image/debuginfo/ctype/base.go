package ctype

// Base is a class as a part of one that is derived from it.
type Base struct {
	Offset  int64 // bytes from the start of the derived class
	Virtual bool  // the offset is known only to the object
}

// Bases returns where a class has the base classes of a canonical name, at any depth. A virtual base counts once.
func (ts *Types) Bases(t *Type, name string) ([]Base, error) {
	return ts.addBases(nil, t, name, Base{}, 0)
}

// addBases appends those of t, which is itself a part of the class that is searched.
func (ts *Types) addBases(found []Base, t *Type, name string, in Base, depth int) ([]Base, error) {
	if t.Kind != Struct || depth > MaxNesting {
		return found, nil
	}
	members, err := ts.Members(t)
	if err != nil {
		return found, err
	}
	for _, m := range members {
		if !m.base {
			continue
		}
		inner, err := ts.Strip(m.Type, true)
		if err != nil {
			return found, err
		}
		at := Base{in.Offset + m.Offset, in.Virtual || m.Virtual}
		switch {
		case ts.Canonical(inner, 0) != name:
			if found, err = ts.addBases(found, inner, name, at, depth+1); err != nil {
				return found, err
			}
		case !at.Virtual || len(found) == 0 || !found[len(found)-1].Virtual:
			found = append(found, at)
		}
	}
	return found, nil
}
