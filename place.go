package gotap

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"gotap/compile/diag"
	"gotap/engine"
	"gotap/engine/place"
	"gotap/engine/place/catalog"
	"gotap/engine/registry"
)

// addAll registers the session's probes and arms them together. Missing places are reported together, as
// Options.Missing says.
func (s *Session) addAll(all []resolvedProbe) error {
	group, err := s.engine.Prepare(nil, nil)
	if err != nil {
		return failed(BadTarget, err)
	}
	a := arming{Session: s, group: group, whole: map[uint32]bool{}}
	wanting, err := a.addEach(all, true)
	if err == nil {
		_, err = a.addEach(wanting, false)
	}
	if err != nil {
		return err
	}
	if len(a.errors) == 0 {
		s.opts.Hooks.Progress("arming " + plural(len(all), "probe"))
		if err := a.commit(all); err != nil {
			return err
		}
	}
	if len(a.errors) > 0 {
		return failed(a.kind, a.errors)
	}
	return s.checkAdded(len(all), a.added())
}

// arming is the state of addAll.
type arming struct {
	*Session
	group  exchange
	whole  map[uint32]bool // the probes that are placed as they were declared
	rest   []uint32        // those that are placed as far as they can be
	errors diag.List
	kind   Kind
}

// addEach prepares probes. With more it returns those that may be prepared when the others are, because these store what
// they read. An error says that the session is to end.
func (a *arming) addEach(all []resolvedProbe, more bool) (wanting []resolvedProbe, err error) {
	for i, p := range all {
		a.opts.Hooks.Progress(fmt.Sprintf("preparing %s (%d of %d)", p.title(), i+1, len(all)))
		err := p.bad
		if err == nil {
			err = a.group.Add(p.spec)
		}
		var want *registry.WantingError
		switch {
		case errors.Is(err, engine.ErrInterrupted):
			return nil, err
		case more && errors.As(err, &want):
			wanting = append(wanting, p)
		case err != nil:
			a.leaveOut(p, err)
		default:
			a.whole[p.spec.ID] = true
		}
	}
	return wanting, nil
}

// leaveOut handles a probe that cannot be placed. When the session does without it, the probe is still registered: for
// its other places, and for places that appear later.
func (a *arming) leaveOut(p resolvedProbe, why error) {
	delete(a.whole, p.spec.ID)
	if !isLeftOut(why) || !p.isOptional() && a.opts.Missing == MissingIsError && !a.opts.Tool.MayAppear {
		a.errors = append(a.errors, a.byOption(a.byCommand(diagnose(p.declaration, why), why), why)...)
		a.kind = max(a.kind, kindOfProbe(why))
		return
	}
	if a.opts.Missing == MissingWarns {
		a.opts.Hooks.Warn(asWarnings(diagnose(p.declaration, why)))
	}
	out := leftOutOf("", p.declaration, why)
	spec := p.spec
	spec.Optional = true
	if isMissing(why) && a.group.Add(spec) == nil {
		out.id = spec.ID
		a.rest = append(a.rest, spec.ID)
	}
	a.leftOut = append(a.leftOut, out)
}

// commit arms the prepared probes. It returns an error only when the session is to end.
func (a *arming) commit(all []resolvedProbe) error {
	err := a.group.CommitEach()
	if err == nil || errors.Is(err, engine.ErrInterrupted) {
		return err
	}
	for _, e := range joined(err) {
		var of *registry.ProbeError
		i := -1
		if errors.As(e, &of) {
			i = slices.IndexFunc(all, func(p resolvedProbe) bool { return p.spec.ID == of.ID })
		}
		if i < 0 {
			a.errors = append(a.errors, diag.Diagnostic{Text: e.Error()})
			a.kind = max(a.kind, BadTarget)
			continue
		}
		a.leaveOut(all[i], of.Err)
	}
	return nil
}

// added counts the probes that are placed, and with Tool.MayAppear those that may be placed later.
func (a *arming) added() int {
	n := len(a.whole)
	if a.opts.Tool.MayAppear {
		return n + len(a.rest)
	}
	for _, s := range a.engine.Query() {
		if slices.Contains(a.rest, s.ID) && s.Places > 0 {
			n++
		}
	}
	return n
}

// asWarnings turns errors into warnings.
func asWarnings(list diag.List) diag.List {
	for i := range list {
		list[i].Severity = diag.Warning
	}
	return list
}

// checkAdded refuses a session that could never see a hit.
func (s *Session) checkAdded(declared, added int) error {
	if declared > 0 && added == 0 {
		return s.nothingToTrace()
	}
	places := 0
	for _, p := range s.engine.Query() {
		places += p.Places
	}
	if added > 0 {
		s.notices.flush()
		s.note("%s at %s", plural(added, "probe"), plural(places, "place"))
	}
	go s.reportPlaces()
	return nil
}

// reasonsShown is how many missing probes an error lists.
const reasonsShown = 5

// sawNowhere reports whether none of the probes was found when the session began, and none was hit later.
func (s closing) sawNowhere(states []engine.ProbeState) bool {
	some := false // of the probes that were not found
	for _, p := range states {
		missing := slices.ContainsFunc(s.leftOut, func(o leftOut) bool { return o.id == p.ID })
		if p.Hits > 0 || !missing && p.Places > 0 {
			return false
		}
		some = some || missing
	}
	return some
}

// nothingToTrace returns the error that no probe matched. It lists what is missing, which may not have been reported
// before.
func (s *Session) nothingToTrace() error {
	text := "no probe matched: there is nothing to trace"
	for i, l := range s.leftOut {
		if i == reasonsShown {
			text += fmt.Sprintf("\n  … and %d more", len(s.leftOut)-i)
			break
		}
		text += "\n  " + l.why
	}
	return failed(NoMatch, errors.New(text))
}

// diagnose turns an error about a probe into diagnostics: the error's own, or one for each place, which points at its
// text.
func diagnose(p declaration, err error) diag.List {
	var list diag.List
	for _, e := range flat(err) {
		var own diag.List
		var at *place.ListedError
		spans := p.spans()
		switch {
		case errors.As(e, &own):
			list = append(list, own...)
		case errors.As(e, &at) && at.Index < len(spans):
			list.Errorf(spans[at.Index], hintOf(e), "%v", e)
		default:
			list.Errorf(spans[0], hintOf(e), "%v", e)
		}
	}
	return list
}

// byOption adds the hint that an option of the script names the place, when the place is the option's default: users of
// a script need not have read it.
func (s *arming) byOption(list diag.List, err error) diag.List {
	var missing *place.NotFoundError
	if s.script() == nil || !errors.As(err, &missing) {
		return list
	}
	asked := strings.TrimPrefix(missing.Spec.String(), "usdt:")
	for _, o := range s.script().Options() {
		if _, given := s.opts.Args[o.Name]; given || !slices.Contains(strings.Split(o.Default, ","), asked) {
			continue
		}
		for i := range list {
			if strings.Contains(list[i].Text, missing.Spec.Name) {
				list[i].Hint = furtherHint(list[i].Hint, "--arg "+o.Name+"=… names another place")
			}
		}
	}
	return list
}

// furtherHint joins two hints.
func furtherHint(first, second string) string {
	switch {
	case first == "":
		return second
	case strings.HasSuffix(first, "?"):
		return first + " " + second
	}
	return first + "; " + second
}

// byCommand replaces hints about places that were not found by hints at programs that COMMAND starts.
func (s *arming) byCommand(list diag.List, err error) diag.List {
	if s.opts.Remote != "" {
		return list
	}
	for _, part := range flat(err) {
		var missing *place.NotFoundError
		if !errors.As(part, &missing) {
			continue
		}
		hint := catalog.Elsewhere(missing, s.opts.Command)
		for i := range list {
			if hint != "" && list[i].Text == part.Error() {
				list[i].Hint = hint
			}
		}
	}
	return list
}
