// Package typings writes gotap.d.ts, the declarations by which an editor, or tsc, knows the script language.
//
// Text puts the file together from the tables that the language itself is made of, so that it cannot fall behind them:
//
//	script.Builtins, Console      what host JavaScript finds        ─┐
//	js.Builtins                   what programs may call            ─┼─▶ functions, namespaces (declare.go)
//	js.Members                    the context of a program          ─┼─▶ Context, LeaveContext, FaultContext
//	script.ProbeOptions           handlers and options of a probe   ─┼─▶ Handlers              (interface.go)
//	script.EventKinds             what on() listens to              ─┘─▶ LifecycleEvents
//
// What is no table in Go (the objects of the host: aggregations, maps, handles, stacks) is declared by hand in objects.d.ts,
// which is embedded; the tests compare it with the objects of a loaded script.
//
// # One file for two worlds
//
// Programs and host JavaScript share a file, so each name has one declaration for both. A name that means something in both is
// overloaded, the program's meaning first where it is the narrower one. Numbers of programs are declared number, although
// they have 64 bits, because arithmetic must check; Int is what takes a number or a BigInt.
//
// Text is computed at each call and touches nothing shared; it may be called from several goroutines.
package typings
