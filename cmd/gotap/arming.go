package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"gotap/compile/diag"
	"gotap/engine"
	"gotap/engine/place"
	"gotap/engine/registry"
)

// declarations are all probes that the run begins with.
func (r *run) declarations() (list []declaration) {
	for _, p := range r.script().Probes() {
		list = append(list, scriptProbe{p})
	}
	for _, d := range r.definitions.all() {
		for _, p := range d.probes {
			list = append(list, p)
		}
	}
	return list
}

// An intention is a declaration as the engine takes it, or what is wrong with it.
type intention struct {
	declaration
	is  engine.ProbeSpec
	bad error
}

// intentions are the declarations of the run.
func (r *run) intentions() (list []intention) {
	for _, p := range r.declarations() {
		spec, err := p.spec(r.tracer)
		list = append(list, intention{p, spec, err})
	}
	return list
}

// addAll registers the run's probes, and has them armed together. What is not found is told all together, by the policy of --missing.
func (r *run) addAll(all []intention) error {
	group, err := r.session.Prepare(nil, nil)
	if err != nil {
		return withStatus(statusTarget, err)
	}
	a := arming{run: r, group: group, whole: map[uint32]bool{}}
	for i, p := range all {
		r.progress.step("preparing %s (%d of %d)", p.title(), i+1, len(all))
		err := p.bad
		if err == nil {
			err = group.Add(p.is)
		}
		if errors.Is(err, engine.ErrInterrupted) {
			return err
		}
		if err != nil {
			a.leaveOut(p, err)
			continue
		}
		a.whole[p.is.ID] = true
	}
	if len(a.failed) == 0 {
		r.progress.step("arming %s", plural(len(all), "probe"))
		if err := a.commit(all); err != nil {
			return err
		}
	}
	if len(a.failed) > 0 {
		return withStatus(a.status, a.failed)
	}
	return r.checkAdded(len(all), a.added())
}

// arming is the probes of a run on their way into the session.
type arming struct {
	*run
	group  exchange
	whole  map[uint32]bool // the probes that are placed as they were declared
	rest   []uint32        // those that are placed as far as they can be
	failed diag.List
	status int
}

// leaveOut deals with a probe that cannot be placed. When the run does without it, it is registered for the places that it has all the
// same, and for those that may appear later.
func (a *arming) leaveOut(p intention, why error) {
	delete(a.whole, p.is.ID)
	if !isLeftOut(why) || !p.isOptional() && a.plan.missing == "error" && !a.demo {
		a.failed = append(a.failed, a.byOption(a.byCommand(diagnose(p.declaration, why), why), why)...)
		a.status = max(a.status, statusOfProbe(why))
		return
	}
	if a.plan.missing == "warn" {
		a.warnings(asWarnings(diagnose(p.declaration, why)))
	}
	out := leftOutOf("", p.declaration, why)
	spec := p.is
	spec.Optional = true
	if isMissing(why) && a.group.Add(spec) == nil {
		out.id = spec.ID
		a.rest = append(a.rest, spec.ID)
	}
	a.leftOut = append(a.leftOut, out)
}

// commit arms what has been prepared. The error is that the run is to end.
func (a *arming) commit(all []intention) error {
	err := a.group.CommitEach()
	if err == nil || errors.Is(err, engine.ErrInterrupted) {
		return err
	}
	for _, e := range apart(err) {
		var of *registry.ProbeError
		i := -1
		if errors.As(e, &of) {
			i = slices.IndexFunc(all, func(p intention) bool { return p.is.ID == of.ID })
		}
		if i < 0 {
			a.failed = append(a.failed, diag.Diagnostic{Text: e.Error()})
			a.status = max(a.status, statusTarget)
			continue
		}
		a.leaveOut(all[i], of.Err)
	}
	return nil
}

// added counts the probes that are placed now, or may be by what the demonstration goes on to run.
func (a *arming) added() int {
	n := len(a.whole)
	if a.demo {
		return n + len(a.rest)
	}
	for _, s := range a.session.Query() {
		if slices.Contains(a.rest, s.ID) && s.Places > 0 {
			n++
		}
	}
	return n
}

// asWarnings makes warnings of what would be errors elsewhere.
func asWarnings(list diag.List) diag.List {
	for i := range list {
		list[i].Severity = diag.Warning
	}
	return list
}

// checkAdded refuses a run that could never see a hit.
func (r *run) checkAdded(declared, added int) error {
	if declared > 0 && added == 0 {
		return r.nothingToTrace()
	}
	places := 0
	for _, s := range r.session.Query() {
		places += s.Places
	}
	if added > 0 {
		r.notices.flush()
		r.note("%s at %s", plural(added, "probe"), plural(places, "place"))
	}
	go r.tellInlined()
	return nil
}

// reasonsShown is how many probes that are not there are told of, one line each.
const reasonsShown = 5

// sawNowhere reports whether none of the probes was found in the demonstration before it began, and none was hit in what it ran.
func (r *run) sawNowhere(states []engine.ProbeState) bool {
	some := false // of those that were not found; others are optional, and say themselves what they lack
	for _, s := range states {
		missing := slices.ContainsFunc(r.leftOut, func(o leftOut) bool { return o.id == s.ID })
		if s.Hits > 0 || !missing && s.Places > 0 {
			return false
		}
		some = some || missing
	}
	return some
}

// nothingToTrace says what each probe lacks: with --missing, for optional probes and for the demonstration nothing was said yet.
func (r *run) nothingToTrace() error {
	text := "no probe matched: there is nothing to trace"
	for i, l := range r.leftOut {
		if i == reasonsShown {
			text += fmt.Sprintf("\n  … and %d more", len(r.leftOut)-i)
			break
		}
		text += "\n  " + l.why
	}
	err := withStatus(statusNoProbe, errors.New(text))
	if r.demo {
		return &hintError{err, "the demonstration has no such places; name a program, as in: gotap run SCRIPT -- ls -l, or a process with -p"}
	}
	return err
}

func isMissing(err error) bool {
	var missing *place.NotFoundError
	return errors.As(err, &missing)
}

// isAbsent reports that there is no such place, or another instruction than the one a definition wants.
func isAbsent(err error) bool {
	var mismatch *mismatchError
	return isMissing(err) || errors.As(err, &mismatch)
}

func statusOfProbe(err error) int {
	var list diag.List
	var syntax *place.SyntaxError
	switch {
	case errors.As(err, &list), errors.As(err, &syntax):
		return statusUsage
	case isAbsent(err):
		return statusNoProbe
	}
	return statusTarget
}

// diagnose is what is wrong with a probe, as diagnostics: the error's own, or one for each place that is concerned, which points at
// its text.
func diagnose(p declaration, err error) diag.List {
	var list diag.List
	for _, e := range parts(err) {
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

// byOption says how to name another place than the one that an option of the script has when it is not given: those who run somebody
// else's script do not look for it in there.
func (r *run) byOption(list diag.List, err error) diag.List {
	var missing *place.NotFoundError
	if r.script() == nil || !errors.As(err, &missing) {
		return list
	}
	asked := strings.TrimPrefix(missing.Spec.String(), "usdt:")
	for _, o := range r.script().Options() {
		if _, given := r.plan.args[o.Name]; given || !slices.Contains(strings.Split(o.Default, ","), asked) {
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

// furtherHint is one hint behind another.
func furtherHint(first, second string) string {
	switch {
	case first == "":
		return second
	case strings.HasSuffix(first, "?"):
		return first + " " + second
	}
	return first + "; " + second
}

// apart are the errors that were joined to one.
func apart(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	return []error{err}
}

// parts are the errors that were joined to one. The same thing is said once, though several processes lack it.
func parts(err error) (all []error) {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	for _, e := range joined.Unwrap() {
		for _, part := range parts(e) {
			if !slices.ContainsFunc(all, func(o error) bool { return o.Error() == part.Error() }) {
				all = append(all, part)
			}
		}
	}
	return all
}
