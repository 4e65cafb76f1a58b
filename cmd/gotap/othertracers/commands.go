package othertracers

var commands = map[string]string{
	"attach": "gotap run -p PID SCRIPT", "exec": "gotap run SCRIPT -- COMMAND",
	"repl": "gotap has no console: gotap run -w replaces a script while it runs, gotap ctl inspects a session",
	"stat": "gotap run funccount", "info": "gotap doctor", "compile": "gotap build SCRIPT -o FILE.ppdf", "script": "gotap run SCRIPT",
}

// Command says what to write instead of a command of other tracers; "" when nothing is known.
func Command(name string) string { return commands[name] }
