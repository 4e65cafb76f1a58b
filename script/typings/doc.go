// Package typings writes gotap.d.ts, the declarations by which an editor, or tsc, knows the script language.
//
// Text makes the file from the tables that also implement the language, so that both always agree:
//
//	script.Builtins, Console      what host JavaScript finds        ─┐
//	builtin.All                   what programs may call            ─┼─▶ functions, namespaces (declare.go)
//	builtin.Members               the context of a program          ─┼─▶ Context, LeaveContext, FaultContext
//	script.ProbeOptions           handlers and options of a probe   ─┼─▶ Handlers              (interface.go)
//	script.EventKinds             what on() listens to              ─┘─▶ LifecycleEvents
//
// The objects of the host that no table describes (aggregations, maps, handles, stacks) are declared by hand in
// objects.d.ts, which is embedded; tests compare it with the objects of a loaded script.
//
// # One file for two worlds
//
// Programs and host JavaScript share a file, so each name has one declaration for both. A name that means something in
// both is overloaded, the program's meaning first where it is the narrower one. Numbers of programs are declared
// number, although they have 64 bits, because arithmetic must check; Int is what takes a number or a BigInt.
//
// Text is computed at each call and touches nothing shared; it may be called from several goroutines.
package typings
