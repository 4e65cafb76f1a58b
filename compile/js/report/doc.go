// Package report collects the messages about a unit and finds where in the user's text they belong.
//
// One error from start to end: the caller asks At for the span of a syntax node, which corrects the positions that
// goja's tree gets wrong and maps generated text (TypeScript, bundled modules) back to the original. Errorf keeps the
// message, once: a function that is copied to several calls reports its errors once. WarnProvisionally keeps a warning
// that Withdraw can take back. Suggestion finds the name that a misspelt one probably meant.
//
// A Report belongs to the compilation of one unit, on one goroutine.
package report
