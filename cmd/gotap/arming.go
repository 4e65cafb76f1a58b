package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"gotap/compile/diag"
	"gotap/engine"
	"gotap/engine/place"
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

// addAll registers the run's probes. What is not found is told all together, by the policy of --missing.
func (r *run) addAll(all []intention) error {
	var failed diag.List
	status, added := 0, 0
	for i, p := range all {
		r.progress.step("arming %s (%d of %d)", p.title(), i+1, len(all))
		spec, err := p.is, p.bad
		if err == nil {
			err = r.session.Add(spec)
		}
		switch {
		case err == nil:
			added++
		case isLeftOut(err) && (p.isOptional() || r.plan.missing != "error" || r.demo):
			if r.plan.missing == "warn" {
				r.warnings(asWarnings(diagnose(p.declaration, err)))
			}
			added += r.addRest(p.declaration, spec, err)
		default:
			failed = append(failed, r.byOption(diagnose(p.declaration, err), err)...)
			status = max(status, statusOfProbe(err))
		}
	}
	if len(failed) > 0 {
		return withStatus(status, failed)
	}
	return r.checkAdded(len(all), added)
}

// asWarnings makes warnings of what would be errors elsewhere.
func asWarnings(list diag.List) diag.List {
	for i := range list {
		list[i].Severity = diag.Warning
	}
	return list
}

// addRest registers a probe of which something was not found, for the places that it has all the same, and for those that may
// appear later. It returns how many probes that makes: 1 when it is placed now, or may be by what the demonstration goes on to
// run. What cannot be placed at all is left out.
func (r *run) addRest(p declaration, spec engine.ProbeSpec, why error) int {
	out := leftOutOf("", p, why)
	spec.Optional = true
	if isMissing(why) && r.session.Add(spec) == nil {
		out.id = spec.ID
	}
	r.leftOut = append(r.leftOut, out)
	if out.id != 0 && r.demo {
		return 1
	}
	for _, s := range r.session.Query() {
		if out.id != 0 && s.ID == out.id && s.Places > 0 {
			return 1
		}
	}
	return 0
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
