package script

import (
	"errors"
	"fmt"
	"math/big"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/dop251/goja"

	"gotap/compile/diag"
)

// jsOption is option(name, default, help): the value given with --arg, converted to the type of the default.
func (s *Script) jsOption(call goja.FunctionCall) goja.Value {
	at := s.site()
	name := call.Argument(0)
	if !goja.IsString(name) || name.String() == "" {
		s.reject(at.argSpan(0), `option("ms", 10, "threshold")`, "an option needs a name")
		return nil
	}
	o := Option{Name: name.String(), Span: at.span()}
	def := call.Argument(1)
	if strings.Contains(o.Name, "=") { // what is before the first = is the name for --arg
		s.reject(at.argSpan(0), `option("ms", 10, "threshold")`, "an option cannot have = in its name")
		return def
	}
	o.Type = optionType(def)
	if o.Type == "integer" && at.fractionSpelt(1) {
		o.Type = "number" // whoever writes 1.0 means 0.5 as well, though to JavaScript that is 1
	}
	if o.Type == "" {
		s.reject(at.argSpan(1), "a number, a text, true or false", "an option cannot be %s", describe(def))
		return nil
	}
	if !goja.IsUndefined(def) {
		o.Default = s.text(def)
	}
	if help := call.Argument(2); !goja.IsUndefined(help) {
		o.Help = help.String()
	}
	s.options = append(s.options, o)
	given, ok := s.opts.Args[o.Name]
	if !ok && s.opts.Replay != nil {
		given, ok = s.opts.Replay.Arg(o.Name)
	}
	if !ok {
		return s.missingOption(o, def)
	}
	v, err := s.convertOption(o.Type, given)
	if err != nil {
		s.reject(at.span(), "", "--arg %s=%s: %v", o.Name, given, err)
		return def
	}
	return v
}

// missingOption is the value of an option that was not given. One without a default is needed to run.
func (s *Script) missingOption(o Option, def goja.Value) goja.Value {
	if !goja.IsUndefined(def) {
		return def
	}
	if !s.opts.Check {
		s.reject(o.Span, "give --arg "+o.Name+"=…", "the script needs a value for its option %s", o.Name)
	}
	return s.vm.ToValue("")
}

// optionType names the type of a default for messages and help; "" is a type that options cannot have.
func optionType(def goja.Value) string {
	switch def.Export().(type) {
	case nil:
		if goja.IsUndefined(def) {
			return "text"
		}
	case string:
		return "text"
	case bool:
		return "boolean"
	case int64, *big.Int:
		return "integer"
	case float64:
		if _, ok := toInt(def); ok {
			return "integer"
		}
		return "number"
	}
	return ""
}

func (s *Script) convertOption(kind, given string) (goja.Value, error) {
	switch kind {
	case "boolean":
		switch strings.ToLower(given) {
		case "true", "yes", "on", "1", "":
			return s.vm.ToValue(true), nil
		case "false", "no", "off", "0":
			return s.vm.ToValue(false), nil
		}
		return nil, errors.New("not true or false")
	case "integer":
		n, ok := new(big.Int).SetString(strings.ReplaceAll(given, "_", ""), 0)
		if !ok || !n.IsInt64() && !n.IsUint64() {
			return nil, errors.New("not an integer")
		}
		if n.IsInt64() {
			return s.integer(n.Int64()), nil
		}
		return s.vm.ToValue(n), nil
	case "number":
		f, err := strconv.ParseFloat(given, 64)
		if err != nil {
			return nil, errors.New("not a number")
		}
		return s.vm.ToValue(f), nil
	}
	return s.vm.ToValue(given), nil
}

// checkArgs reports arguments that no option took.
func (s *Script) checkArgs() {
	known := map[string]bool{}
	var names []string
	for _, o := range s.options {
		known[o.Name] = true
		names = append(names, o.Name)
	}
	var given []string
	for name := range s.opts.Args {
		given = append(given, name)
	}
	sort.Strings(given)
	for _, name := range given {
		if known[name] {
			continue
		}
		hint := nearest(name, names)
		if len(names) == 0 {
			hint = "the script declares no options"
		}
		s.diags.Errorf(diag.Span{}, hint, "--arg %s: the script has no option of that name", name)
	}
}

// Limits of intervals.
const (
	minInterval = 100 * time.Microsecond
	maxInterval = 365 * 24 * time.Hour
)

// interval reads "20ms", "1s", "100us", "5m", "1h", or a number of milliseconds.
func interval(v goja.Value) (time.Duration, error) {
	var d time.Duration
	switch n := v.Export().(type) {
	case int64:
		d = time.Duration(min(max(n, -1), int64(maxInterval/time.Millisecond)+1)) * time.Millisecond
	case float64:
		d = time.Duration(min(max(n, -1), 1e12) * float64(time.Millisecond))
	case string:
		var err error
		if d, err = time.ParseDuration(strings.ReplaceAll(strings.TrimSpace(n), " ", "")); err != nil {
			return 0, fmt.Errorf("%s is no interval", strconv.Quote(n))
		}
	default:
		return 0, fmt.Errorf("%s is no interval", describe(v))
	}
	switch {
	case d <= 0:
		return 0, errors.New("an interval must be longer than nothing")
	case d < minInterval:
		return 0, fmt.Errorf("an interval of %v is too short: the least is %v", d, minInterval)
	case d > maxInterval:
		return 0, fmt.Errorf("an interval of %v is too long", d)
	}
	return d, nil
}
