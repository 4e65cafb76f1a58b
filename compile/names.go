package compile

import "gotap/runtime"

// fieldNames, contextNames, kindNames and exitNames are the names that listings show for operands.
var (
	fieldNames = [...]string{
		runtime.FieldPid: "pid", runtime.FieldTid: "tid", runtime.FieldPpid: "ppid", runtime.FieldCPU: "cpu",
		runtime.FieldTime: "time", runtime.FieldElapsed: "elapsed", runtime.FieldPC: "pc", runtime.FieldSP: "sp",
		runtime.FieldCaller: "caller", runtime.FieldUid: "uid", runtime.FieldFault: "fault", runtime.FieldSignal: "signal",
		runtime.FieldGid: "gid", runtime.FieldErrno: "errno", runtime.FieldFrame: "frame",
		runtime.FieldResult: "result",
	}
	contextNames = [...]string{
		runtime.TextComm: "comm", runtime.TextFunc: "func", runtime.TextModule: "module", runtime.TextProbe: "probe",
	}
	kindNames = [...]string{
		runtime.ValueInt: "int", runtime.ValueUint: "uint", runtime.ValueFloat: "float", runtime.ValueText: "text",
		runtime.ValueBytes: "bytes", runtime.ValueStack: "stack", runtime.ValueBool: "bool",
	}
	exitNames = [...]string{
		runtime.ExitPlain: "plain", runtime.ExitEvent: "event", runtime.ExitHold: "hold",
		runtime.ExitDump: "dump", runtime.ExitStop: "stop", runtime.ExitFacility: "facility",
	}
	itemNames = [...]string{
		runtime.ItemLog: "log", runtime.ItemPrintf: "printf", runtime.ItemEvent: "event", runtime.ItemRange: "range",
		runtime.ItemString: "string", runtime.ItemWords: "words", runtime.ItemFault: "fault",
		runtime.ItemTrace: "trace",
	}
)
