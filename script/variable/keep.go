package variable

import (
	"github.com/dop251/goja"

	"gotap/script/jsvm"
)

// Keep gives variables the values they have in an earlier version of the script, where name and type are the same.
// Those that programs of both versions share have them already (see shared.Table.Declare); this is about the others,
// which no program of at least one of the versions uses. A variable that nothing changed is a setting: its value in the
// new text counts.
func (v *Variables) Keep(old *Variables) {
	for _, sl := range v.slots {
		was := old.like(sl)
		if !was.mayDiffer() || was.value == nil || sl.value == nil || was.kind != slotPlain && sl.kind != slotPlain {
			continue
		}
		value := was.value
		if was.kind != slotPlain {
			value = old.load(was)
		}
		if sl.carried = sameKind(value, sl.value); !sl.carried {
			continue
		}
		if sl.kind == slotPlain {
			sl.value = value
		} else {
			v.startShared(sl, value)
		}
	}
}

// before returns a variable in the version that this one follows; nil when there is none.
func (v *Variables) before(sl *Slot) *Slot {
	if v.previous == nil {
		return nil
	}
	return v.previous.like(sl)
}

// like finds the variable with the name and file of one of another version; nil when there is none.
func (v *Variables) like(sl *Slot) *Slot {
	for _, own := range v.slots {
		if own.Var.Name == sl.Var.Name && own.File.Path == sl.File.Path {
			return own
		}
	}
	return nil
}

// mayDiffer reports whether a variable may have another value than its first one.
func (sl *Slot) mayDiffer() bool { return sl != nil && (sl.Var.Assigned > 0 || sl.carried) }

// startShared gives a variable that programs have begun to share the value it had before. The programs already run: an
// integer keeps what they have added to its first value.
func (v *Variables) startShared(sl *Slot, value goja.Value) {
	switch n, whole := jsvm.ToInt(value); {
	case sl.kind != slotInt:
		v.store(sl, value)
	case whole && !jsvm.Rounded(value):
		first, _ := jsvm.ToInt(sl.value)
		sl.object.Handle.Add(n - first)
	}
}

// sameKind reports whether two values are both numbers, both texts or both booleans. Objects belong to the machine that
// made them.
func sameKind(a, b goja.Value) bool {
	number := func(v goja.Value) bool { return goja.IsNumber(v) || goja.IsBigInt(v) }
	truth := func(v goja.Value) bool { _, ok := v.Export().(bool); return ok && !goja.IsUndefined(v) }
	return number(a) && number(b) || goja.IsString(a) && goja.IsString(b) || truth(a) && truth(b)
}
