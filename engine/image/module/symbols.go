package module

import "gotap/engine/image/symtab"

// symbolOrigin is a file as its symbol table sees it.
type symbolOrigin struct{ f *File }

// Own, Debug and Mini are the files whose symbol tables count.
func (o symbolOrigin) Own() *symtab.Image   { return o.f.image }
func (o symbolOrigin) Debug() *symtab.Image { return imageOf(o.f.Debug()) }
func (o symbolOrigin) Mini() *symtab.Image  { return imageOf(o.f.mini()) }

// imageOf returns the sections of a file, or nil.
func imageOf(f *File) *symtab.Image {
	if f == nil {
		return nil
	}
	return f.image
}

// GoMain returns the address of runtime.main, or else that of the first function in Go's own table.
func (o symbolOrigin) GoMain() (addr uint64, ok bool) {
	if found := o.f.GoFuncsNamed("runtime.main"); len(found) > 0 {
		return found[0].Addr, true
	}
	list, err := o.f.GoFuncs()
	if err != nil || len(list) == 0 {
		return 0, false
	}
	return list[0].Addr, true
}

// GoFuncs returns the functions in Go's own table as symbols.
func (o symbolOrigin) GoFuncs() []symtab.Symbol {
	list, _ := o.f.GoFuncs()
	syms := make([]symtab.Symbol, len(list))
	for i, fn := range list {
		syms[i] = symtab.Symbol{Name: fn.Name, Addr: fn.Addr, Size: fn.Size, Kind: symtab.KindFunc, Bind: symtab.BindLocal}
	}
	return syms
}

// TextEnd returns the end of the executable section that an address is in, or 0.
func (o symbolOrigin) TextEnd(vaddr uint64) (end uint64) {
	for _, r := range o.f.text {
		if r.Contains(vaddr) {
			end = r.End
		}
	}
	return end
}

// InPLT reports whether an address is in a procedure linkage stub.
func (o symbolOrigin) InPLT(vaddr uint64) bool { return o.f.InPLT(vaddr) }

// FrameAt returns the entry of call-frame information that covers an address.
func (o symbolOrigin) FrameAt(vaddr uint64) (start, end uint64, ok bool) {
	r, ok := o.f.frameAt(vaddr)
	return r.Start, r.End, ok
}

// FrameAfter returns the start of the first entry of call-frame information behind an address.
func (o symbolOrigin) FrameAfter(vaddr uint64) (start uint64, ok bool) { return o.f.frameAfter(vaddr) }

// MayDefine reports whether a symbol table of the file, or of its debug file or .gnu_debugdata when it is stripped, can
// have a symbol of this name. Unlike Lookup it searches only the names, and a name may be the end of another
// ("sigaction" of "__sigaction").
func (f *File) MayDefine(name string) bool {
	for _, in := range []*File{f, f.Debug(), f.mini()} {
		if in != nil && in.image.MayDefine(name) {
			return true
		}
	}
	return false
}
