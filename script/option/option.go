package option

import (
	"errors"
	"math/big"
	"sort"
	"strconv"
	"strings"

	"github.com/dop251/goja"

	"gotap/compile/diag"
	"gotap/script/journal"
	"gotap/script/jsvm"
)

// Options are the options that one script has declared.
type Options struct {
	List []Option

	m      *jsvm.Machine
	args   map[string]string
	replay journal.Replay
	check  bool
}

// New makes an empty list. args are the values given with --arg; those of a replay count for options without one. With
// check an option without a value is not an error, since nothing will run.
func New(m *jsvm.Machine, args map[string]string, replay journal.Replay, check bool) *Options {
	return &Options{m: m, args: args, replay: replay, check: check}
}

// Declare implements option(name, default, help): the value given with --arg, converted to the type of the default.
func (opts *Options) Declare(call goja.FunctionCall) goja.Value {
	at := opts.m.Site()
	name := call.Argument(0)
	if !goja.IsString(name) || name.String() == "" {
		opts.m.Reject(at.ArgSpan(0), `option("ms", 10, "threshold")`, "an option needs a name")
		return nil
	}
	o := Option{Name: name.String(), Span: at.Span()}
	def := call.Argument(1)
	if strings.Contains(o.Name, "=") { // --arg takes the text before the first = as the name
		opts.m.Reject(at.ArgSpan(0), `option("ms", 10, "threshold")`, "an option cannot have = in its name")
		return def
	}
	o.Type = typeOf(def)
	if o.Type == "integer" && at.HasPoint(1) {
		o.Type = "number" // a user who writes 1.0 also means 0.5, though to JavaScript 1.0 is 1
	}
	if o.Type == "" {
		opts.m.Reject(at.ArgSpan(1), "a number, a text, true or false", "an option cannot be %s", jsvm.Describe(def))
		return nil
	}
	if !goja.IsUndefined(def) {
		o.Default = opts.m.Text(def)
	}
	if help := call.Argument(2); !goja.IsUndefined(help) {
		o.Help = help.String()
	}
	opts.List = append(opts.List, o)
	given, ok := opts.args[o.Name]
	if !ok && opts.replay != nil {
		given, ok = opts.replay.Arg(o.Name)
	}
	if !ok {
		return opts.missing(o, def)
	}
	v, err := opts.convert(o.Type, given)
	if err != nil {
		opts.m.Reject(at.Span(), "", "--arg %s=%s: %v", o.Name, given, err)
		return def
	}
	return v
}

// missing returns the value of an option that was not given. One without a default is required to run.
func (opts *Options) missing(o Option, def goja.Value) goja.Value {
	if !goja.IsUndefined(def) {
		return def
	}
	if !opts.check {
		opts.m.Reject(o.Span, "give --arg "+o.Name+"=…", "the script needs a value for its option %s", o.Name)
	}
	return opts.m.VM.ToValue("")
}

// typeOf names the type of a default for messages and help; "" is a type that options cannot have.
func typeOf(def goja.Value) string {
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
		if _, ok := jsvm.ToInt(def); ok {
			return "integer"
		}
		return "number"
	}
	return ""
}

func (opts *Options) convert(kind, given string) (goja.Value, error) {
	switch kind {
	case "boolean":
		switch strings.ToLower(given) {
		case "true", "yes", "on", "1", "":
			return opts.m.VM.ToValue(true), nil
		case "false", "no", "off", "0":
			return opts.m.VM.ToValue(false), nil
		}
		return nil, errors.New("not true or false")
	case "integer":
		n, ok := new(big.Int).SetString(strings.ReplaceAll(given, "_", ""), 0)
		if !ok || !n.IsInt64() && !n.IsUint64() {
			return nil, errors.New("not an integer")
		}
		if n.IsInt64() {
			return opts.m.Integer(n.Int64()), nil
		}
		return opts.m.VM.ToValue(n), nil
	case "number":
		f, err := strconv.ParseFloat(given, 64)
		if err != nil {
			return nil, errors.New("not a number")
		}
		return opts.m.VM.ToValue(f), nil
	}
	return opts.m.VM.ToValue(given), nil
}

// CheckArgs reports arguments that no option took.
func (opts *Options) CheckArgs() {
	known := map[string]bool{}
	var names []string
	for _, o := range opts.List {
		known[o.Name] = true
		names = append(names, o.Name)
	}
	var given []string
	for name := range opts.args {
		given = append(given, name)
	}
	sort.Strings(given)
	for _, name := range given {
		if known[name] {
			continue
		}
		hint := jsvm.Nearest(name, names)
		if len(names) == 0 {
			hint = "the script declares no options"
		}
		opts.m.Diags.Errorf(diag.Span{}, hint, "--arg %s: the script has no option of that name", name)
	}
}

// Option is a script argument that the script declared with option().
type Option struct {
	Name    string
	Default string // "" when it has none
	Type    string // "text", "integer", "number", "boolean"
	Help    string
	Span    diag.Span
}
