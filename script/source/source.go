package source

import (
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"

	"gotap/compile/diag"
	"gotap/script/load"
	"gotap/script/scope"
)

// File is one file of the script with the meaning of its names.
type File struct {
	*load.File
	Info *scope.Info // of the tree as written
}

// Function is a function literal that may become a program.
type Function struct {
	File *File
	*scope.Function
}

// Files are the files of one script.
type Files struct {
	Inputs    []string // paths of all files that were read, for a watcher
	Functions []*Function
	own       *diag.Controls
	keep      bool
	byPath    map[string]*File
}

// NewFiles makes an empty list. Control sequences in the script's own texts are added to own, which may be nil; keep
// also makes slots of top-level variables that only callbacks use.
func NewFiles(own *diag.Controls, keep bool) *Files {
	return &Files{own: own, keep: keep, byPath: map[string]*File{}}
}

// Admit analyses a parsed file, numbers its functions and its shared variables, of which there are slots so far, and
// rewrites the tree that will run.
func (fs *Files) Admit(parsed *load.File, slots int) (*File, diag.List) {
	o := scope.Options{FirstFunction: len(fs.Functions), FirstSlot: slots, Keep: fs.keep}
	f := &File{File: parsed, Info: scope.Analyze(parsed.Tree, o)}
	list := f.check()
	f.OriginalNumbers(f.Info.Numbers)
	for _, text := range f.Info.Texts {
		if strings.ContainsFunc(text, diag.IsControl) {
			fs.own.Add(text)
		}
	}
	for _, lit := range f.Info.Functions {
		fs.Functions = append(fs.Functions, &Function{f, lit})
	}
	scope.Analyze(f.Run, o).Rewrite()
	fs.byPath[f.Path] = f
	fs.Inputs = append(fs.Inputs, f.File.Inputs...)
	return f, list
}

// check finds what JavaScript would accept and the author cannot have meant.
func (f *File) check() (list diag.List) {
	for _, re := range f.Info.RegExps {
		if load.BadRegExp(re.Pattern) {
			list.Errorf(f.NodeSpan(re), `write the ranges out: [A-Za-z\u00c0-\u024f]`,
				"property escapes like \\p{L} never match here")
		}
	}
	for _, text := range f.Info.Unfilled {
		list.Warnf(f.NodeSpan(text), "use printf(format, …), with \\n at the end of the line",
			"this does not fill in the format: it writes its values one after the other")
	}
	return list
}

// Compile makes a rewritten file runnable.
func (f *File) Compile() (*goja.Program, diag.List) {
	prg, err := goja.CompileAST(f.Run, true)
	if err != nil {
		return nil, f.CompileError(err)
	}
	return prg, nil
}

// At finds the file that a stack frame names; nil when it is not one of the script's.
func (fs *Files) At(name string) *File { return fs.byPath[name] }

// Innermost returns the innermost frame of a stack in a file of the script; the file is nil when there is none.
func (fs *Files) Innermost(stack []goja.StackFrame) (*File, file.Position) {
	for _, frame := range stack {
		if f := fs.byPath[frame.SrcName()]; f != nil {
			return f, frame.Position()
		}
	}
	return nil, file.Position{}
}

// Place is where the innermost frame of a stack in a file of the script is.
func (fs *Files) Place(stack []goja.StackFrame) diag.Span {
	f, at := fs.Innermost(stack)
	if f == nil {
		return diag.Span{}
	}
	return f.FrameSpan(at)
}

// UserPlace returns the innermost frame of a stack in the user's own text, or, when there is none, that in the standard
// library.
func (fs *Files) UserPlace(stack []goja.StackFrame) diag.Span {
	for _, frame := range stack {
		if f := fs.byPath[frame.SrcName()]; f != nil {
			if at := f.FrameSpan(frame.Position()); !InLibrary(at) {
				return at
			}
		}
	}
	return fs.Place(stack)
}

// InLibrary reports whether a place is in a module of the standard library.
func InLibrary(at diag.Span) bool {
	return at.Source != nil && strings.HasPrefix(at.Source.Name, load.StdPrefix)
}

// FrameSpan is where a frame of a stack is. The machine places a call at its parenthesis; people look for the name.
func (f *File) FrameSpan(pos file.Position) diag.Span {
	call := f.Info.Calls[file.Idx(f.Offset(pos)+load.Base)].Node
	if call == nil {
		return f.PlaceSpan(pos)
	}
	switch callee := call.Callee.(type) {
	case *ast.Identifier:
		return f.NodeSpan(callee)
	case *ast.DotExpression:
		return f.NodeSpan(&callee.Identifier)
	}
	return f.PlaceSpan(pos)
}
