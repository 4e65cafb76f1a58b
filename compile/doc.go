// Package compile turns what users write into programs: verified, bounded RPN bytecode.
package compile
