// Package opcode is the table of the machine's operations: what each is called, what it takes and leaves, what it
// needs.
//
// Adding an operation is one row in table.go, one case in the function of package runtime that the row's Group names,
// and
//
//	go generate ./runtime/opcode
//
// which writes the constants (names.go). All else derives from the row: the machine's stack checks and dispatch, the
// verifier's checks, file codes, listings, the assembler, commands.md, and the needs of programs. Tests say what lacks:
// TestNamesAreCurrent a constant, TestRows a column, runtime's TestEveryOperationHasMeaning a case in the machine, and
// compile's TestSemantics an example of what the operation does.
//
// # Why a table of Go values
//
// The columns are typed, so the compiler refuses a row with an operand or a trait that does not exist. Only the
// constants cannot be made of values, so only they are generated.
//
// # Concurrency
//
// Everything here is constant after initialisation. All functions may be called from any goroutine, and none allocates
// but Picture.
package opcode

//go:generate go run gotap/runtime/opcode/generate
