package js

import (
	"slices"

	"gotap/compile"
	"gotap/runtime"
)

// aside is where items wait in the place of going to the host: a trail, or a recorder.
type aside struct {
	name   string
	object int
	trail  bool
}

func (a aside) noun() string {
	if a.trail {
		return "a trail"
	}
	return "a recorder"
}

// methods are what programs can do with it.
func (a aside) methods() []string {
	list := []string{"log", "print", "printf", "exit"}
	if a.trail {
		list = append(list, "commit", "discard")
	}
	return list
}

// hint is what a program can do with it, in words.
func (a aside) hint() string {
	if a.trail {
		return a.name + ".log(…) and " + a.name + ".exit({ … }) wait until " + a.name + ".commit() or " + a.name + ".discard()"
	}
	return a.name + ".log(…) and " + a.name + ".exit({ … }) are kept until a callback calls " + a.name + ".dump()"
}

// aside is a method of a trail or a recorder; nil when it has no such method.
func (s *site) aside(a aside) *expr {
	if slices.Contains(a.methods(), s.name) && !s.onlyDecides(a.name+"."+s.name, s.at) {
		return poison(s.at)
	}
	switch s.name {
	case "log", "print":
		return a.divert(s.log())
	case "printf":
		if !s.count(1, -1) {
			return poison(s.at)
		}
		return a.divert(s.printf())
	case "exit":
		if !s.count(0, 1) {
			return poison(s.at)
		}
		return a.divert(s.exit(runtime.ExitPlain))
	case "commit":
		return s.end(a, runtime.OpKeep)
	case "discard":
		return s.end(a, runtime.OpForget)
	}
	return nil
}

// divert has an item go aside.
func (a aside) divert(e *expr) *expr {
	if e.code == codeItem {
		e.aside = &compile.Command{Op: runtime.OpEndAside, A: uint32(a.object), Pos: e.at}
	}
	return e
}

// end keeps or forgets a trail; a recorder has no such end.
func (s *site) end(a aside, op runtime.Op) *expr {
	if !a.trail {
		return nil
	}
	if !s.count(0, 0) {
		return poison(s.at)
	}
	return applyA(s.at, kindVoid, op, uint32(a.object)).with(effLog | effWrite)
}
