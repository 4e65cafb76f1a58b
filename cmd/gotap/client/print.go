package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"text/tabwriter"

	"gotap/cmd/gotap/status"
	"gotap/cmd/gotap/wire"
	"gotap/engine/registry"
)

// print writes an answer: results to standard output, what was done to standard error. In JSON all of it is data, an
// object a line with its type, as run writes it.
func (c *Client) print(verb string, r wire.Reply) error {
	if c.JSON {
		return c.printJSON(verb, r)
	}
	for _, note := range r.Notes {
		if !c.Quiet {
			fmt.Fprintf(c.errs(), "gotap: %s\n", strings.TrimRight(note, "\n"))
		}
	}
	for _, v := range r.Values {
		fmt.Fprintln(c.out(), v.Text)
	}
	return c.printProbes(r.Probes)
}

// Report prints an error: as a record in JSON, and as the session wrote it when that is a diagnostic. The error that it
// returns then only carries the exit status; other errors are returned as they are.
func (c *Client) Report(err error) error {
	var refused *refusal
	shown := errors.As(err, &refused) && refused.why.Shown
	switch {
	case err == nil:
		return nil
	case c.JSON:
		out := json.NewEncoder(c.Stdout)
		out.SetEscapeHTML(false)
		out.Encode(struct { // a reader that went away leaves the status
			Type string `json:"type"`
			Text string `json:"text"`
			Hint string `json:"hint,omitempty"`
		}{"error", err.Error(), status.HintOf(err)})
	case shown:
		fmt.Fprintln(c.errs(), err)
	default:
		return err
	}
	return status.Silent(status.Of(err))
}

// printProbes writes a line a probe: name, state, hits, missed hits, places and how they are run, what was refused, and
// the script where it is an inserted one.
func (c *Client) printProbes(probes []wire.Probe) error {
	t := tabwriter.NewWriter(c.out(), 0, 8, 2, ' ', 0)
	for _, p := range probes {
		fmt.Fprintf(t, "%s\t%s\t%d hits\t%d missed\t%s", p.Name, p.State, p.Hits, p.Missed, places(p.Places))
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
	return status.With(status.Failure, t.Flush())
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

// places returns a number of places in words.
func places(n int) string {
	if n == 1 {
		return "1 place"
	}
	return fmt.Sprintf("%d places", n)
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
func (c *Client) printJSON(verb string, r wire.Reply) error {
	out := json.NewEncoder(c.Stdout)
	out.SetEscapeHTML(false)
	for _, p := range r.Probes {
		if err := out.Encode(struct {
			Type string `json:"type"`
			wire.Probe
		}{"probe", p}); err != nil {
			return status.With(status.Failure, err)
		}
	}
	for _, v := range r.Values {
		if err := out.Encode(v.Data); err != nil {
			return status.With(status.Failure, err)
		}
	}
	return status.With(status.Failure, out.Encode(struct {
		Type  string   `json:"type"`
		Verb  string   `json:"verb"`
		Notes []string `json:"notes,omitempty"`
	}{"done", verb, r.Notes}))
}

// printSessions lists sessions: number, script, what they trace, since when.
func (c *Client) printSessions(all []wire.Session) error {
	if c.JSON {
		out := json.NewEncoder(c.Stdout)
		for _, s := range all {
			if err := out.Encode(struct {
				Type string `json:"type"`
				wire.Session
			}{"session", s}); err != nil {
				return status.With(status.Failure, err)
			}
		}
		return nil
	}
	for _, s := range all {
		fmt.Fprintln(c.out(), sessionLine(s))
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
