package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"gotap"
	"gotap/cmd/gotap/datafile"
	"gotap/cmd/gotap/status"
	"gotap/cmd/gotap/views"
	"gotap/compile/diag"
	"gotap/engine"
	"gotap/script/definition"
	"gotap/script/output/format"
	"gotap/script/output/picture"
)

// runOptions are the flags of run, as given.
type runOptions struct {
	text     string // -e
	duration string
	args     []string
	unsafe   bool
	engine   string
	affinity string
	missing  string
	maxSites int
	budget   string
	readyFD  int
	watch    bool
	preserve bool // --preserve-status

	background bool
	exits      string // a script beside a definition file
	record     string // --record

	shown   views.Options // while it goes on
	further []string      // scripts and definition files behind the first

	generated bool // the script is one of gotap with words from the command line: errors do not show its text

	targetFlags
	outputFlags
	reportFlags
	definitionFlags
}

// outputFlags say where the data go, and as what.
type outputFlags struct {
	output, rotate, format string   // -o, --rotate, -f
	logNames               []string // --log
}

// reportFlags say how much is reported besides the data.
type reportFlags struct{ stats, quiet, verbose bool }

func (o *runOptions) register(c *cobra.Command) {
	o.registerScript(c)
	o.registerSession(c)
}

// registerScript registers the flags about the script.
func (o *runOptions) registerScript(c *cobra.Command) {
	f := c.Flags()
	f.VarP(&onceValue{to: &o.text, empty: true}, "eval", "e", "the script itself, instead of a file")
	f.StringArrayVar(&o.args, "arg", nil, "name=value, read by option() in the script (repeatable)")
	f.BoolVar(&o.unsafe, "unsafe", false, "allow programs to change the target")
	f.BoolVarP(&o.watch, "watch", "w", false, "replace the script when its file changes; values stay, errors keep the old one")
	f.StringVar(&o.record, "record", "", "keep what the script gets in this file, for gotap test")
	f.StringVar(&o.exits, "exits", "", "beside a definition file, a script whose facility(N, fn) gets what ends with exit N")
	o.definitionFlags.register(c)
	o.definitionFlags.registerSelection(c)
}

// registerSession registers the flags about the target, the output and the end.
func (o *runOptions) registerSession(c *cobra.Command) {
	f := c.Flags()
	o.targetFlags.register(f)
	f.StringVarP(&o.duration, "for", "T", "", "end after this time, as in 10s")
	f.VarP(&onceValue{to: &o.output}, "output", "o", "write data to this file, once there is some; - is standard output, and COMMAND's goes to standard error then; %F, %H%M%S and the like of strftime become the time of the start")
	f.VarP(&onceValue{to: &o.rotate}, "rotate", "S", "SIZE[,FILES]: when the file of -o has SIZE (512K, 10M, 1G; a bare number is megabytes) begin a new one; older ones are FILE.1 to FILE.N, 10 in all when no number is given")
	f.StringVarP(&o.format, "format", "f", "", format.Use)
	f.StringVar(&o.engine, "engine", "auto", "auto, emulate, step, or inline: programs run in the target as native code, without a stop; what needs stops is refused")
	f.StringVar(&o.affinity, "affinity", "", "auto: gotap and a target with one thread share a CPU where the target cannot notice it; off: no affinity is changed (default auto)")
	f.StringVar(&o.missing, "missing", "error", "what a place that is not found is: error, warn or ignore")
	f.IntVar(&o.maxSites, "max-probes", 1000, "places probed at most; unless it is given, --engine inline has no limit")
	f.StringVar(&o.budget, "budget", "", "percent of the time that targets may be stopped; beyond it probes rest, are disabled, are taken out")
	f.BoolVar(&o.stats, "stats", false, "print at the end what every probe did")
	f.IntVar(&o.readyFD, "ready-fd", noReadyFD, "write the line \"ready\" to this descriptor once all probes are armed")
	f.BoolVar(&o.preserve, "preserve-status", false, "exit with the status of COMMAND, or of the one process of -p; 128 and the signal's number when a signal ended it")
	f.StringArrayVar(&o.logNames, "log", nil, "write to "+logTargetUse+" (repeatable); files are appended to")
	o.shown.Register(f)
	f.BoolVar(&o.background, "background", false, "go on without this terminal once all probes are armed; needs -o or --log")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "no status lines; losses are still reported")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "report more")
}

// A onceValue is the value of a flag that may be given once: a second script or file would replace the first in
// silence.
type onceValue struct {
	to    *string
	empty bool // "" is a value, and not an unset variable of a shell
	set   bool
}

// Set implements pflag.Value.
func (v *onceValue) Set(text string) error {
	switch {
	case v.set:
		return errors.New("it is given twice")
	case text == "" && !v.empty:
		return errors.New("it is empty")
	}
	*v.to, v.set = text, true
	return nil
}

func (v *onceValue) String() string { return *v.to }

// Type implements pflag.Value.
func (v *onceValue) Type() string { return "string" }

// A plan is the flags of run, parsed.
type plan struct {
	pids     []int
	command  []string
	follow   engine.Follow
	engine   engine.Engine
	affinity engine.Affinity
	duration time.Duration // 0: none
	share    float64       // --budget, 0 to 1; 0: none
	args     map[string]string
	shape    format.Format // -f, or as the ending of -o has it
	json     bool
	script   string        // the name of the script, as given
	own      diag.Controls // control sequences of the script
	data     *os.File
	sinkFile *datafile.File     // writes to data
	rotation *datafile.Rotation // nil: the data are one file
	ready    *os.File           // nil: none
	readyOwn bool               // it is not a standard stream
	logs     []*logTarget
	picture  *picture.Sink // of a format that is written as a whole; otherwise nil
	views    *views.Views  // nil: none
	terminal bool          // --log terminal
	apart    bool          // -o -: standard output has data only
	beside   gotap.Script  // --exits

	definition definition.Options
	runOptions
}

// check parses and checks all flags before anything is started.
func (o runOptions) check(w *World, script string, command []string) (*plan, error) {
	p := &plan{runOptions: o, script: script, command: command, data: w.Stdout}
	for _, step := range []func() error{p.checkRemote, func() error { return p.checkTargets(w) }, p.checkPreserve, p.checkFollow, p.checkEngine, p.checkAffinity, p.checkDuration, p.checkBudget, p.checkArgs,
		p.checkWords, p.checkFormat, p.checkLabels, p.checkDefinition, func() error { return p.openReady(w) }, p.checkOutput, p.checkRotate, p.checkBackground, func() error { return p.openViews(w) }, p.openOutput, p.openLogs, p.readExits} {
		var known *status.Error
		if err := step(); errors.As(err, &known) {
			return nil, err
		} else if err != nil {
			return nil, status.With(status.Usage, err)
		}
	}
	return p, nil
}

func (p *plan) checkEngine() error {
	switch p.runOptions.engine {
	case "auto":
		p.engine = engineOfAuto
	case "emulate":
		p.engine = engine.Emulate
	case "step":
		p.engine = engine.Step
	case "inline":
		p.engine = engine.Inline
	case "bpf":
		return status.Hinted(fmt.Errorf("--engine %s: this build has no such engine", p.runOptions.engine), "auto, inline, emulate and step are here")
	default:
		return fmt.Errorf("--engine is auto, inline, emulate or step, not %q", p.runOptions.engine)
	}
	return nil
}

// The values of --affinity.
const (
	affinityAuto = "auto"
	affinityOff  = "off"
)

func (p *plan) checkAffinity() error {
	switch p.runOptions.affinity {
	case "", affinityAuto:
		p.affinity = engine.AffinityAuto
	case affinityOff:
		p.affinity = engine.AffinityOff
	default:
		return fmt.Errorf("--affinity is auto or off, not %q", p.runOptions.affinity)
	}
	return nil
}

func (p *plan) checkDuration() error {
	if p.runOptions.duration == "" {
		return nil
	}
	d, err := time.ParseDuration(p.runOptions.duration)
	if err != nil {
		// a number without a unit means seconds, as with timeout(1)
		n, numeric := strconv.ParseFloat(p.runOptions.duration, 64)
		if numeric != nil {
			return status.Hinted(fmt.Errorf("-T %s: not a time", p.runOptions.duration), "as in 10s, 500ms, 1m30s")
		}
		if !(n*float64(time.Second) < math.MaxInt64) {
			return fmt.Errorf("-T %s: longer than a time can be", p.runOptions.duration)
		}
		d = time.Duration(n * float64(time.Second))
	}
	if d <= 0 {
		return fmt.Errorf("-T %s: the time has to be more than nothing", p.runOptions.duration)
	}
	p.duration = d
	return nil
}

func (p *plan) checkBudget() error {
	if p.runOptions.budget == "" {
		return nil
	}
	n, err := strconv.ParseFloat(strings.TrimSuffix(p.runOptions.budget, "%"), 64)
	switch {
	case err != nil:
		return status.Hinted(fmt.Errorf("--budget %s: not a number", p.runOptions.budget), "percent of the time, as in --budget 10")
	case !(n >= leastBudget && n <= 100):
		return status.Hinted(fmt.Errorf("--budget %s: from %g to 100", p.runOptions.budget, leastBudget), "percent of the time, as in --budget 10")
	}
	p.share = n / 100
	return nil
}

// leastBudget is the smallest percentage that can be kept: a few hits in each window.
const leastBudget = 0.1

func (p *plan) checkArgs() error {
	p.args = map[string]string{}
	for _, a := range p.runOptions.args {
		name, value, found := strings.Cut(a, "=")
		if !found || name == "" {
			return status.Hinted(fmt.Errorf("--arg %s: no name=value", a), "as in --arg top=5")
		}
		p.args[name] = value
	}
	return nil
}

func (p *plan) checkWords() error {
	switch p.missing {
	case "error", "warn", "ignore":
	default:
		return fmt.Errorf("--missing is error, warn or ignore, not %q", p.missing)
	}
	if p.maxSites < 1 && p.maxSites != sitesOfEngine {
		return fmt.Errorf("--max-probes %d: at least 1", p.maxSites)
	}
	return nil
}

// engineOfAuto is what --engine auto means: engine.Auto is the same without native code.
const engineOfAuto = engine.Mixed

// sitesOfEngine is --max-probes where it is not given: the engine's own limit holds.
const sitesOfEngine = math.MinInt

// noReadyFD is --ready-fd where it is not given.
const noReadyFD = -1

func (p *plan) openReady(w *World) error {
	if p.readyFD == noReadyFD {
		return nil
	}
	if _, err := unix.FcntlInt(uintptr(p.readyFD), unix.F_GETFD, 0); err != nil {
		return fmt.Errorf("--ready-fd %d: not an open descriptor", p.readyFD)
	}
	if streams := []*os.File{w.Stdin, w.Stdout, w.Stderr}; p.readyFD < len(streams) {
		p.ready = streams[p.readyFD]
		return nil
	}
	unix.CloseOnExec(p.readyFD) // the traced program must not inherit it
	p.ready = os.NewFile(uintptr(p.readyFD), "ready")
	p.readyOwn = true
	return nil
}

// sayReady reports on --ready-fd that all probes are armed. The reader may have gone, so errors are dropped.
func (p *plan) sayReady() {
	if p.ready == nil {
		return
	}
	p.ready.WriteString("ready\n")
	if p.readyOwn {
		p.ready.Close()
	}
}
