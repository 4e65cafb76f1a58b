package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"text/tabwriter"

	"gotap/cmd/gotap/wire"
	"gotap/engine/registry"
)

// print writes an answer: results to standard output, what was done to standard error. In JSON all of it is data, an
// object a line with its type, as run writes it.
func (k *ctlClient) print(verb string, r wire.Reply) error {
	if k.format == "json" {
		return k.printJSON(verb, r)
	}
	for _, note := range r.Notes {
		if !k.quiet {
			fmt.Fprintf(k.w.errs(), "gotap: %s\n", strings.TrimRight(note, "\n"))
		}
	}
	for _, v := range r.Values {
		fmt.Fprintln(k.w.out(), v.Text)
	}
	return k.printProbes(r.Probes)
}

// report prints an error in the format of --format. The error that it returns only carries the exit status.
func (k *ctlClient) report(err error) error {
	var refused *sessionError
	shown := errors.As(err, &refused) && refused.why.Shown
	switch {
	case err == nil:
		return nil
	case k.format == "json":
		out := json.NewEncoder(k.w.Stdout)
		out.SetEscapeHTML(false)
		out.Encode(struct { // a reader that went away leaves the status
			Type string `json:"type"`
			Text string `json:"text"`
			Hint string `json:"hint,omitempty"`
		}{"error", err.Error(), hintOf(err)})
	case shown:
		fmt.Fprintln(k.w.errs(), err)
	default:
		return err
	}
	return &statusError{statusOf(err), nil}
}

// printProbes writes a line a probe: name, state, hits, missed hits, places and how they are run, what was refused, and
// the script where it is an inserted one.
func (k *ctlClient) printProbes(probes []wire.Probe) error {
	t := tabwriter.NewWriter(k.w.out(), 0, 8, 2, ' ', 0)
	for _, p := range probes {
		fmt.Fprintf(t, "%s\t%s\t%d hits\t%d missed\t%s", p.Name, p.State, p.Hits, p.Missed, plural(p.Places, "place"))
		more := slices.Concat(strategyText(p.Strategy), sitesText(p), codesText(p.Codes))
		if len(p.Refused) > 0 {
			more = append(more, "refused: "+strings.ReplaceAll(strings.Join(p.Refused, "; "), "\n", " "))
		}
		if p.Script != "" {
			more = append(more, "script "+p.Script)
		}
		if len(more) > 0 {
			fmt.Fprintf(t, "\t%s", strings.Join(more, ", "))
		}
		fmt.Fprintln(t)
	}
	return withStatus(statusFailure, t.Flush())
}

// codesText returns the numbers of a definition's probe that are not 0.
func codesText(c *wire.Codes) []string {
	if c == nil {
		return nil
	}
	text := []string{fmt.Sprintf("codes %d,%d", c.Major, c.Minor)}
	if c.Group != 0 || c.Type != 0 {
		text = append(text, fmt.Sprintf("group %d, type %d", c.Group, c.Type))
	}
	return text
}

// sitesText returns what a probe is placed on, and the address of each place of code.
func sitesText(p wire.Probe) []string {
	if p.Places == 0 {
		return nil
	}
	var at []string
	for _, s := range p.Sites {
		at = append(at, fmt.Sprintf("%s %s", s.Place, s.Address))
	}
	if len(at) == registry.MaxSites && p.Places > len(at) {
		at = append(at, "…")
	}
	return slices.DeleteFunc([]string{p.Kind, strings.Join(at, "; ")}, func(text string) bool { return text == "" })
}

func strategyText(strategy map[string]int) []string {
	var how []string
	for name, n := range strategy {
		how = append(how, fmt.Sprintf("%d %s", n, name))
	}
	sort.Strings(how)
	return how
}

// printJSON writes probes as {"type":"probe",…}, values as the records of run, and at the end {"type":"done",…}.
func (k *ctlClient) printJSON(verb string, r wire.Reply) error {
	out := json.NewEncoder(k.w.Stdout)
	out.SetEscapeHTML(false)
	for _, p := range r.Probes {
		if err := out.Encode(struct {
			Type string `json:"type"`
			wire.Probe
		}{"probe", p}); err != nil {
			return withStatus(statusFailure, err)
		}
	}
	for _, v := range r.Values {
		if err := out.Encode(v.Data); err != nil {
			return withStatus(statusFailure, err)
		}
	}
	return withStatus(statusFailure, out.Encode(struct {
		Type  string   `json:"type"`
		Verb  string   `json:"verb"`
		Notes []string `json:"notes,omitempty"`
	}{"done", verb, r.Notes}))
}

// printSessions lists sessions: number, script, what they trace, since when.
func (k *ctlClient) printSessions(all []wire.Session) error {
	if k.format == "json" {
		out := json.NewEncoder(k.w.Stdout)
		for _, s := range all {
			if err := out.Encode(struct {
				Type string `json:"type"`
				wire.Session
			}{"session", s}); err != nil {
				return withStatus(statusFailure, err)
			}
		}
		return nil
	}
	for _, s := range all {
		fmt.Fprintln(k.w.out(), sessionLine(s))
	}
	return nil
}

// sessionLine returns a session in a line.
func sessionLine(s wire.Session) string {
	b := fmt.Sprintf("%d  %s", s.ID, s.Script)
	for _, name := range s.Inserted {
		b += " + " + name
	}
	if len(s.Command) > 0 {
		b += "  -- " + strings.Join(s.Command, " ")
	}
	if len(s.Pids) > 0 {
		b += "  processes " + strings.Trim(fmt.Sprint(s.Pids), "[]")
	}
	if !s.Started.IsZero() {
		b += "  since " + s.Started.Local().Format("15:04:05")
	}
	return b
}

// plural returns a number of things.
func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	if strings.HasSuffix(thing, "s") {
		thing += "e"
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
