package registry

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"gotap/compile"
	"gotap/engine/image/debuginfo"
	"gotap/engine/image/module"
)

// ofModule returns the debug information of a module; "" is the place's own.
func (i *Info) ofModule(path string) (*debuginfo.Info, *module.File, error) {
	file := i.Target.File
	if path != "" && path != file.Path && i.Modules != nil {
		for _, f := range i.Modules() {
			if f.Path == path {
				file = f
			}
		}
	}
	in, ok := i.Files.Info(file)
	if !ok || path != "" && file.Path != path {
		return nil, nil, &untypedError{"types of " + filepath.Base(file.Path), "u32(p + offset) and its kin read memory"}
	}
	return in, file, nil
}

// Typed implements js.Typed.
func (i *Info) Typed(ref compile.TypeRef, path []string) (compile.Access, error) {
	in, file, err := i.ofModule(ref.Module)
	if err != nil {
		return compile.Access{}, err
	}
	a, err := in.Typed(ref, path)
	if a.Ref.Known() {
		a.Ref.Module = file.Path
	}
	return a, err
}

// TypeNamed implements js.Typed. A type is searched in the place's module, then in all others; "MODULE:struct point *"
// names one.
func (i *Info) TypeNamed(name string) (compile.TypeRef, error) {
	in, file, err := i.ofModule("")
	var ref compile.TypeRef
	if err == nil {
		if ref, err = in.TypeNamed(i.Target.Vaddr, name); err == nil {
			ref.Module = file.Path
			return ref, nil
		}
	}
	if i.Modules != nil {
		for _, f := range i.Modules() {
			if other, ok := i.Files.Info(f); ok && f != i.Target.File {
				if ref, e := other.TypeNamed(0, name); e == nil {
					ref.Module = f.Path
					return ref, nil
				}
			}
		}
	}
	return ref, err
}

// SizeOf implements js.Typed.
func (i *Info) SizeOf(ref compile.TypeRef) (int64, error) {
	in, _, err := i.ofModule(ref.Module)
	if err != nil {
		return 0, err
	}
	return in.SizeOf(ref)
}

// BaseOffset implements js.Classes. Classes of two modules are taken as they are.
func (i *Info) BaseOffset(from, to compile.TypeRef) (int64, error) {
	if from.Module != to.Module {
		return 0, nil
	}
	in, _, err := i.ofModule(from.Module)
	if err != nil {
		return 0, err
	}
	return debuginfo.BaseOffset(in, from, to)
}

// Enumerator implements js.Typed.
func (i *Info) Enumerator(name string) (int64, bool, error) {
	in, ok := i.Files.Info(i.Target.File)
	if !ok {
		return 0, false, nil
	}
	v, ok, err := in.Enumerator(i.Target.Vaddr, name)
	if errors.Is(err, debuginfo.ErrNone) {
		return 0, false, nil
	}
	return v, ok, err
}

// ResultAccess implements js.Typed.
func (i *Info) ResultAccess(index int, path []string) (compile.Access, error) {
	in, ok := i.Files.Info(i.Target.File)
	if !ok || i.Target.Func == nil {
		return compile.Access{}, &untypedError{fmt.Sprintf("result %d of %s", index, strings.Join(append([]string{i.Target.Name}, path...), ".")), "c.ret is its first result"}
	}
	return i.own(in.ResultAccess(i.Target.Func.Addr, index, path...))
}

// Results implements js.Typed.
func (i *Info) Results() int {
	in, ok := i.Files.Info(i.Target.File)
	if !ok || i.Target.Func == nil {
		return 0
	}
	return in.Results(i.Target.Func.Addr)
}
