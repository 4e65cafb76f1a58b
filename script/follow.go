package script

import (
	"slices"

	"github.com/dop251/goja"

	"gotap/script/jsvm"
)

// followed are what follow() takes, as --follow does.
var followed = []string{"none", "threads", "children"}

// jsFollow implements follow(which), which is for the top level: targets are started or attached to behind it.
func (s *Script) jsFollow(call goja.FunctionCall) goja.Value {
	m, which := s.machine, call.Argument(0)
	switch {
	case !m.Loading:
		m.Throwf(`follow() has no effect any more: call it at top level`)
	case !goja.IsString(which) || !slices.Contains(followed, which.String()):
		m.Reject(m.Site().ArgSpan(0), "", `follow takes "none", "threads" or "children", not %s`, jsvm.Describe(which))
	default:
		s.follow = which.String()
	}
	return nil
}

// Following returns what the script asked for with follow(); "" when it did not.
func (s *Script) Following() string { return s.follow }
