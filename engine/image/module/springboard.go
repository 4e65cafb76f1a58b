package module

import (
	"sort"

	"gotap/arch"
	"gotap/engine/image/symtab"
)

// Springboards returns addresses of size bytes each, within reach of a jump at an address of the file, that no thread
// executes: padding between functions, or behind a jump or return in the middle of one. None overlap. The bytes do not
// change what runs, so a springboard can be there, which is a jump that reaches farther. Those nearest to the end of
// their padding come first, because the window of a return may include the bytes behind it.
//
// Padding is instructions of a kind that compilers put there, behind an instruction that does not continue, up to the
// next address where a function starts or control arrives (Targets). Padding in a function is left alone if its
// indirect jumps may lead anywhere.
func (w Windows) Springboards(vaddr uint64, size int) (found []uint64) {
	const reach = 128
	low, high := vaddr-min(vaddr, reach), vaddr+reach
	for _, fn := range w.funcsIn(low, high) {
		for _, pad := range w.paddingIn(fn, low, high) {
			for at := pad.End; at >= pad.Start+uint64(size); {
				at -= uint64(size)
				if _, err := w.arch.Jump(vaddr, at); err == nil {
					found = append(found, at)
				}
			}
		}
	}
	return found
}

// funcsIn returns functions that have bytes between two addresses, or whose padding may have.
func (w Windows) funcsIn(low, high uint64) (in []*symtab.Func) {
	const longest = 64 // bytes of padding
	funcs := w.Funcs()
	for i := sort.Search(len(funcs), func(i int) bool { return funcs[i].Addr >= high }) - 1; i >= 0; i-- {
		fn := &funcs[i]
		if i > 0 && funcs[i-1].Addr == fn.Addr || fn.Size == 0 { // another name of it comes
			continue
		}
		if fn.End()+longest <= low {
			break
		}
		in = append(in, fn)
	}
	return in
}

// paddingIn returns the padding behind instructions of a function that do not continue, which are between two
// addresses.
func (w Windows) paddingIn(fn *symtab.Func, low, high uint64) (pads []Range) {
	if !w.IsText(fn.Addr) || w.Targets().err != nil {
		return nil
	}
	flow := w.windows.flow.of(w, fn)
	first := sort.Search(len(flow.insns), func(i int) bool { return flow.insns[i]+windowCode >= low })
	for _, addr := range flow.insns[first:] {
		if addr >= high {
			break
		}
		code, err := w.Code(addr, windowCode)
		if err != nil {
			break
		}
		in, err := w.arch.Decode(code, addr)
		if err != nil || in.Control != arch.Return && in.Control != arch.Jump && in.Control != arch.IndirJump {
			continue
		}
		pad := Range{addr + uint64(in.Len), addr + uint64(len(code))}
		pad.End = min(pad.End, w.nextStart(addr))
		if pad.Start < fn.End() && flow.unclear != "" || pad.Start > pad.End {
			continue
		}
		pad.End = pad.Start + uint64(w.arch.Padding(code[in.Len:pad.End-addr]))
		if t, ok := w.Targets().Into(pad.Start-1, pad.End); ok {
			pad.End = t.Addr
		}
		if _, ok := w.Targets().Sequence(pad.Start, pad.End); !ok && pad.End > pad.Start {
			pads = append(pads, pad)
		}
	}
	return pads
}

// nextStart returns the next address behind one where a function or a piece of one starts.
func (w Windows) nextStart(vaddr uint64) uint64 {
	next := ^uint64(0)
	funcs := w.Funcs()
	if i := sort.Search(len(funcs), func(i int) bool { return funcs[i].Addr > vaddr }); i < len(funcs) {
		next = funcs[i].Addr
	}
	if at, ok := w.frameAfter(vaddr); ok {
		next = min(next, at)
	}
	return next
}
