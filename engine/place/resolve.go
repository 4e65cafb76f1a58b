package place

import (
	"debug/elf"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gotap/compile/spelling"
	"gotap/engine/image/module"
	"gotap/engine/image/symname"
	"gotap/engine/image/symtab"
)

// Lines is the line table of a module.
type Lines interface {
	// AddrsOf returns the addresses in the file at which a source line starts, one for each copy of its code. The file
	// is named by the last components of its path, or as in the debug information. When no code belongs to the line,
	// nearest are the lines of the file that have code, or nothing when the file is unknown.
	AddrsOf(file string, line int) (addrs []uint64, nearest []int, err error)
}

// Resolver finds places in modules. Its functions are called on the goroutine of the caller.
type Resolver struct {
	// Lines reads the line table of a module. If it is nil or returns nil, source lines are not found.
	Lines func(*module.File) (Lines, error)
	// Boundaries returns the addresses of the instructions in code, which is a function that starts at vaddr. Addresses
	// returned with an error are valid. If it is nil, offsets are not checked and "+*" is refused.
	Boundaries func(f *module.File, code []byte, vaddr uint64) ([]uint64, error)
	// Callees returns where the calls in code lead, which is a function that starts at vaddr. Calls returned with an
	// error are valid. If it is nil, the callees of functions are not found.
	Callees func(f *module.File, code []byte, vaddr uint64) ([]module.Callee, error)
	// Overlooked collects patterns that only libraries have functions for; it may be nil.
	Overlooked *Overlooked
}

// ResolveAll returns the places that a specification stands for in the modules of a process, which must be in the order
// of search: the main program first. Without a module part that is the main program if it has the place, otherwise
// every module that has it. With a module part it is every module that matches. The error is a *NotFoundError when
// nothing was found, the error of the first module that refuses the place, or ErrProcessAddress for addresses without a
// module.
func (r *Resolver) ResolveAll(s Spec, files []*module.File) ([]Target, error) {
	if s.Absolute() {
		return nil, ErrProcessAddress
	}
	searched := Candidates(s, files)
	if len(searched) == 0 {
		return nil, NotLoaded(s, files)
	}
	if s.Of == Callees {
		return r.callees(s, searched, files)
	}
	var found []Target
	var missing NotFoundError
	var failed error
	var inMain *NotFoundError
	// A module without the place is ignored; the refusal of one that has it is what the user needs to know.
	for i, f := range searched {
		targets, err := r.Resolve(s, f)
		found = append(found, targets...)
		var nf *NotFoundError
		switch {
		case errors.As(err, &nf):
			missing.NoExports = nf.NoExports && (i == 0 || missing.NoExports)
			missing.What, missing.Suggestions = nf.What, addOnce(missing.Suggestions, nf.Suggestions)
			missing.Inlined = append(missing.Inlined, nf.Inlined...)
			missing.Matching = append(missing.Matching, nf.Matching...)
			if i == 0 { // the program itself or the named module, because most libraries are stripped
				missing.Stripped, missing.NoLines, inMain = nf.Stripped, nf.NoLines, nf
			}
			// Whether a library knows the file is irrelevant when the program knows none.
			if missing.Reason == nil && (i == 0 || len(nf.Suggestions) > 0) {
				missing.Reason = nf.Reason
			}
		case err != nil && failed == nil:
			failed = err
		}
		missing.Searched = append(missing.Searched, f.Path)
		if s.Module == "" && i == 0 && (len(found) > 0 || failed != nil) {
			break // the main program has it
		}
	}
	if len(found) > 0 {
		r.Overlooked.Note(s, searched[0], inMain)
		return copies(found, files), nil
	}
	if failed != nil {
		return nil, failed
	}
	missing.Spec, missing.Suggestions = s, missing.Suggestions[:min(3, len(missing.Suggestions))]
	return nil, &missing
}

// copies replaces variables of libraries by the copies that the program has of them.
func copies(found []Target, files []*module.File) []Target {
	var kept []Target
	for _, t := range found {
		for _, f := range files {
			if t.Var == nil {
				break
			}
			if addr, ok := f.CopyOf(t.File, t.Var); ok {
				t.File, t.Vaddr = f, addr+t.Offset
				break
			}
		}
		if t.Var == nil || !slices.ContainsFunc(kept, func(k Target) bool { return k.File == t.File && k.Vaddr == t.Vaddr }) {
			kept = append(kept, t)
		}
	}
	return kept
}

// addOnce appends the names that a list does not have yet.
func addOnce(list, names []string) []string {
	for _, name := range names {
		if !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// Candidates returns the files that match the module part of a specification. Files of exactly that name are preferred
// to libraries whose name starts with it. A name that no file has may be that of a command that is a symbolic link,
// like python3.
func Candidates(s Spec, files []*module.File) []*module.File {
	var exact, all []*module.File
	if s.Module == MainProgram && len(files) > 0 {
		return files[:1]
	}
	isFile := fileAt(s.Module)
	for _, f := range files {
		if s.Module != "" && (f.Path == s.Module || filepath.Base(f.Path) == s.Module || isFile(f)) {
			exact = append(exact, f)
		}
		if MatchModule(s.Module, f.Path) {
			all = append(all, f)
		}
	}
	if len(exact) > 0 {
		return exact
	}
	if len(all) == 0 && s.Module != "" && !strings.Contains(s.Module, "/") {
		return linked(s.Module, files)
	}
	return all
}

// MainProgram is the module part that means the main program, whatever its name is.
const MainProgram = "a.out"

// InModule reports whether the module part of a specification means a file among those of a process. An empty one means
// every file.
func InModule(s Spec, f *module.File, files []*module.File) bool {
	return s.Module == "" || slices.Contains(Candidates(s, files), f)
}

// linked returns the files that a name leads to through links: as a command in the search path, or as a file in the
// working directory.
func linked(name string, files []*module.File) (found []*module.File) {
	command, err := exec.LookPath(name)
	for _, f := range files {
		if err == nil && samePath(command, f.Path) || samePath(name, f.Path) {
			found = append(found, f)
		}
	}
	return found
}

// NotLoaded returns the error for a module part that no module matches, with similar names.
func NotLoaded(s Spec, files []*module.File) error {
	e := &NotFoundError{Spec: s, What: NoModule}
	if s.Module == "" { // nothing to search at all
		e.What = NoFunction
	}
	if len(files) == 1 && isStatic(files[0]) {
		e.Static = files[0].Path
	}
	want := filepath.Base(s.Module)
	for _, f := range files {
		e.Searched = append(e.Searched, f.Path)
		base := filepath.Base(f.Path)
		near := len(want) >= 3 && (strings.Contains(base, want) || strings.HasPrefix(base, want[:3]) && want[:3] != "lib" ||
			strings.HasPrefix(base, want[:min(5, len(want))]))
		if (near || misspelt(want, base)) && len(e.Suggestions) < 3 {
			e.Suggestions = append(e.Suggestions, base)
		}
	}
	return e
}

// isStatic reports whether a program is linked statically, so that no loader maps libraries.
func isStatic(f *module.File) bool {
	headers := f.ELF().Progs
	return !slices.ContainsFunc(headers, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP })
}

// misspelt reports whether a module part is the name of a file, or of a library without its suffix, with a spelling
// mistake or two.
func misspelt(want, base string) bool {
	short, _, _ := strings.Cut(base, ".so")
	slips := 1 + len(want)/6
	for _, name := range []string{base, short} {
		if len(want) > slips && spelling.Distance(strings.ToLower(want), strings.ToLower(name), slips) <= slips {
			return true
		}
	}
	return false
}

// Resolve returns the places that a specification stands for in one module, whatever its module part is. A pattern
// leaves out places that cannot be probed; a place with a plain name is refused with a *RefusedError or *OffsetError.
func (r *Resolver) Resolve(s Spec, f *module.File) ([]Target, error) {
	switch s.Kind {
	case Function:
		return r.functions(s, f)
	case Address:
		return r.address(s, f)
	case Line:
		if s.Last > 0 || s.Column > 0 {
			return r.span(s, f)
		}
		return r.lines(s, f)
	case Mark:
		return marks(s, f)
	case Watch:
		return watched(s, f)
	}
	return nil, &RefusedError{Place: s.String(), Reason: "a system call is not a place in a module"}
}

// inlined returns functions that search the debug information for an inlined function, or nil for patterns.
func (r *Resolver) inlined(s Spec, f *module.File) []Inlined {
	if r.Lines == nil || s.Pattern() {
		return nil
	}
	return []Inlined{func(name string) (file string, line int, ok bool) {
		lines, err := r.Lines(f)
		if in, can := lines.(interface {
			Inlined(name string) (file string, line int, ok bool)
		}); can && err == nil {
			return in.Inlined(name)
		}
		return "", 0, false
	}}
}

// matching returns a function that searches the debug information for inlined functions that a pattern matches, or nil
// for names.
func (r *Resolver) matching(s Spec, f *module.File) []Names {
	if r.Lines == nil || !symname.IsGlob(s.Name) {
		return nil
	}
	return []Names{func() []string {
		lines, err := r.Lines(f)
		in, can := lines.(interface{ InlinedNames() []string })
		if !can || err != nil {
			return nil
		}
		return slices.DeleteFunc(in.InlinedNames(), func(name string) bool { return !symname.Glob(s.Name, name) })
	}}
}

func (r *Resolver) functions(s Spec, f *module.File) ([]Target, error) {
	if s.Of == Callees {
		return r.callees(s, []*module.File{f}, []*module.File{f})
	}
	matches := s.lookup(f)
	if len(matches) == 0 {
		return nil, r.noFunction(s, f)
	}
	if s.File != "" {
		var err error
		if matches, err = r.inFile(s, f, matches); err != nil {
			if matches, err = s.orVersion(f, err); err != nil {
				return nil, err
			}
		}
	}
	var found []Target
	var refused error
	for _, m := range matches {
		targets, err := r.inFunction(s, f, m)
		found = append(found, targets...)
		if refused == nil {
			refused = err
		}
	}
	if len(found) == 0 {
		return nil, refused
	}
	if symname.IsGlob(s.Name) {
		refused = nil // a pattern stands for what can be probed
	}
	return found, refused
}

// inFunction resolves the offset in one function.
func (r *Resolver) inFunction(s Spec, f *module.File, m symtab.Match) ([]Target, error) {
	t := Target{File: f, Func: m.Func, Vaddr: m.Func.Addr, Symbol: m.Name, IFunc: m.Func.Kind == symtab.KindIFunc}
	switch {
	case s.Relative:
		return r.below(s, t)
	case s.Every:
		return r.every(t)
	case s.HasOff && s.Offset != 0:
		return r.at(t, s.Offset)
	case m.Part && !s.HasOff:
		return nil, &RefusedError{Place: m.Name, Reason: "it is a piece of a function, which is not called",
			Help: m.Name + "+0x0 means its first instruction"}
	}
	return []Target{t.named()}, nil
}

// ifuncOffset returns the error for instructions of a function whose implementation is not chosen yet.
func ifuncOffset(t Target) error {
	return &RefusedError{Place: t.Symbol, Reason: "the loader chooses its implementation when the program runs, so it has no instructions before",
		Help: "name the implementation that it chooses"}
}

// every returns all instructions of a function.
func (r *Resolver) every(t Target) ([]Target, error) {
	if t.IFunc {
		return nil, ifuncOffset(t)
	}
	addrs, err := r.boundaries(t.File, t.Func)
	if len(addrs) == 0 {
		if err == nil {
			err = errors.New("its size is unknown")
		}
		return nil, fmt.Errorf("cannot list instructions of %s: %w", t.Symbol, err)
	}
	var found []Target
	for _, addr := range addrs {
		t.Vaddr, t.Offset = addr, addr-t.Func.Addr
		found = append(found, t.named())
	}
	return found, nil
}

// at returns one instruction of a function.
func (r *Resolver) at(t Target, offset uint64) ([]Target, error) {
	if t.IFunc {
		return nil, ifuncOffset(t)
	}
	if err := r.checkOffset(t.File, t.Func, t.Symbol, offset); err != nil {
		return nil, err
	}
	t.Vaddr, t.Offset = t.Func.Addr+offset, offset
	return []Target{t.named()}, nil
}

// checkOffset refuses offsets beyond a function and inside its instructions.
func (r *Resolver) checkOffset(f *module.File, fn *symtab.Func, name string, offset uint64) error {
	if fn.Size == 0 { // assembly in a file without call-frame information
		return nil // the bounds are unknown
	}
	if offset >= fn.Size {
		return &OffsetError{Func: name, Start: fn.Addr, Offset: offset, Size: fn.Size}
	}
	if r.Boundaries == nil {
		return nil
	}
	addrs, err := r.boundaries(f, fn)
	// Instructions are sorted by address, so the last one below and the first one above are the nearest.
	e := &OffsetError{Func: name, Start: fn.Addr, Offset: offset, Size: fn.Size}
	for _, addr := range addrs {
		switch at := addr - fn.Addr; {
		case at == offset:
			return nil
		case at < offset:
			e.Near = []uint64{at}
		default:
			e.Near = append(e.Near, at)
			return e
		}
	}
	if err != nil {
		return fmt.Errorf("cannot find out whether %s+0x%x is an instruction: %w", name, offset, err)
	}
	return e
}

// maxFunc bounds the bytes of a function that are decoded.
const maxFunc = 16 << 20

// boundaries returns the addresses of the instructions of a function.
func (r *Resolver) boundaries(f *module.File, fn *symtab.Func) ([]uint64, error) {
	if r.Boundaries == nil {
		return nil, errors.New("no decoder for its processor")
	}
	code, err := f.Code(fn.Addr, int(min(fn.Size, maxFunc)))
	if err != nil {
		return nil, err
	}
	return r.Boundaries(f, code, fn.Addr)
}

// address resolves MODULE:0xADDR. In a function with known bounds the address must be that of an instruction;
// elsewhere, in files without symbols, it is not checked.
func (r *Resolver) address(s Spec, f *module.File) ([]Target, error) {
	at := fmt.Sprintf("%s:0x%x", filepath.Base(f.Path), s.Addr)
	if !f.IsText(s.Addr) {
		return nil, &RefusedError{Place: at, Reason: "the file has no code there",
			Help: "addresses are those of the file, as nm and objdump print them"}
	}
	t := At(f, s.Addr)
	if t.Func != nil {
		if err := r.checkOffset(f, t.Func, t.Symbol, t.Offset); err != nil {
			return nil, err
		}
	}
	t.Name = at
	return []Target{t}, nil
}

// stripped returns the name of a module without symbols, with what is known about where they may be, or "".
func stripped(f *module.File) string {
	if !f.Stripped() {
		return ""
	}
	var known []string
	if f.BuildID != "" {
		known = append(known, "build-id "+f.BuildID)
	}
	if err := f.MiniError(); err != nil {
		known = append(known, err.Error())
	}
	if len(known) == 0 {
		return filepath.Base(f.Path)
	}
	return filepath.Base(f.Path) + " (" + strings.Join(known, "; ") + ")"
}

// lines resolves @FILE:LINE.
func (r *Resolver) lines(s Spec, f *module.File) ([]Target, error) {
	missing := &NotFoundError{Spec: s, What: NoLine, Searched: []string{f.Path}, Stripped: stripped(f)}
	if r.Lines == nil {
		return nil, missing
	}
	lines, err := r.Lines(f)
	if err != nil {
		return nil, fmt.Errorf("cannot read source lines of %s: %w", f.Path, err)
	}
	if lines == nil {
		missing.NoLines = filepath.Base(f.Path)
		return nil, missing
	}
	addrs, nearest, err := lines.AddrsOf(s.File, s.Line)
	if err != nil {
		err = fmt.Errorf("cannot find %s:%d in %s: %w", s.File, s.Line, f.Path, err)
		if !errors.As(err, new(noCode)) {
			return nil, err
		}
		missing.Reason = err
	}
	var found []Target
	for _, addr := range addrs {
		t := At(f, addr)
		t.Name = fmt.Sprintf("%s:@%s:%d", filepath.Base(f.Path), s.File, s.Line)
		found = append(found, t)
	}
	for _, n := range nearest {
		missing.Suggestions = append(missing.Suggestions, strconv.Itoa(n))
	}
	if len(found) == 0 {
		return nil, missing
	}
	return found, nil
}

// noCode is implemented by the error of a line table for a line or a file without code.
type noCode interface{ NoCode() }
