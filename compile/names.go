package compile

import (
	"gotap/runtime"
	"gotap/runtime/outcome"
	"gotap/runtime/record"
	rtvalue "gotap/runtime/value"
)

// fieldNames, contextNames, wideNames, unitNames, kindNames and exitNames are the names that listings show for
// operands.
var (
	fieldNames = [...]string{
		runtime.FieldPid: "pid", runtime.FieldTid: "tid", runtime.FieldPpid: "ppid", runtime.FieldCPU: "cpu",
		runtime.FieldTime: "time", runtime.FieldElapsed: "elapsed", runtime.FieldPC: "pc", runtime.FieldSP: "sp",
		runtime.FieldCaller: "caller", runtime.FieldUid: "uid", runtime.FieldFault: "fault", runtime.FieldSignal: "signal",
		runtime.FieldGid: "gid", runtime.FieldErrno: "errno", runtime.FieldFrame: "frame",
		runtime.FieldResult: "result", runtime.FieldRunTime: "vtime",
	}
	contextNames = [...]string{
		runtime.TextComm: "comm", runtime.TextFunc: "func", runtime.TextModule: "module", runtime.TextProbe: "probe",
		runtime.TextCgroup: "cgroup",
	}
	wideNames = [...]string{rtvalue.WideInt: "int", rtvalue.WideUint: "uint", rtvalue.WideX87: "x87", rtvalue.WideQuad: "quad"}
	unitNames = [...]string{rtvalue.UTF16Z: "utf16z", rtvalue.UTF32Z: "utf32z", rtvalue.UTF16: "utf16", rtvalue.UTF32: "utf32", rtvalue.BytesZ: "bytesz"}
	kindNames = [...]string{
		rtvalue.KindInt: "int", rtvalue.KindUint: "uint", rtvalue.KindFloat: "float", rtvalue.KindText: "text",
		rtvalue.KindBytes: "bytes", rtvalue.KindStack: "stack", rtvalue.KindBool: "bool", rtvalue.KindQuoted: "quoted", rtvalue.KindWhole: "whole", rtvalue.KindDump: "dump",
	}
	exitNames = [...]string{
		outcome.ExitPlain: "plain", outcome.ExitEvent: "event", outcome.ExitHold: "hold",
		outcome.ExitDump: "dump", outcome.ExitStop: "stop", outcome.ExitFacility: "facility",
	}
	itemNames = [...]string{
		record.ItemLog: "log", record.ItemPrintf: "printf", record.ItemEvent: "event", record.ItemRange: "range",
		record.ItemString: "string", record.ItemWords: "words", record.ItemFault: "fault",
		record.ItemTrace: "trace",
	}
)
