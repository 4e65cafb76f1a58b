package main

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The limits of what one reader has to hold in mind. Instruction sets are long by nature, so the number of lines does
// not count in arch.
const (
	maxFields  = 25   // of a struct; an embedded type is one, padding is none
	maxMethods = 60   // of a type, or that an interface demands; promoted ones do not count
	maxLines   = 5000 // of a package, comments included, tests not
)

// oneNoun are packages that may have more lines, two at most. The section "One noun" of their pages argues why.
var oneNoun = []string{"runtime/native/amd64"}

// A typeSize is the size of a declared type. Files for different systems may declare a method several times; it counts
// once.
type typeSize struct {
	fields  int
	methods map[string]bool
}

// A packageSize is the size of the package in a folder.
type packageSize struct {
	lines int
	types map[string]*typeSize
}

func (p *packageSize) named(name string) *typeSize {
	if p.types[name] == nil {
		p.types[name] = &typeSize{methods: map[string]bool{}}
	}
	return p.types[name]
}

// add counts what a file declares at its top level.
func (p *packageSize) add(text []byte) error {
	f, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	p.lines += bytes.Count(text, []byte("\n"))
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv != nil {
				p.named(receiver(d.Recv.List[0].Type)).methods[d.Name.Name] = true
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if t, ok := s.(*ast.TypeSpec); ok {
					p.named(t.Name.Name).count(t.Type)
				}
			}
		}
	}
	return nil
}

// count adds what a type's declaration lists.
func (t *typeSize) count(e ast.Expr) {
	switch e := e.(type) {
	case *ast.StructType:
		t.fields = max(t.fields, fields(e))
	case *ast.InterfaceType:
		for _, m := range e.Methods.List {
			for _, name := range m.Names {
				t.methods[name.Name] = true
			}
		}
	}
}

// fields counts the fields of a struct that have a name or are embedded types.
func fields(e *ast.StructType) (n int) {
	for _, f := range e.Fields.List {
		if f.Names == nil {
			n++
		}
		for _, name := range f.Names {
			if name.Name != "_" {
				n++
			}
		}
	}
	return n
}

// receiver returns the name of a method's type, without pointer and type parameters.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.ParenExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// packageSizes measures every package of a tree, by folder.
func packageSizes(t *testing.T, root string) map[string]*packageSize {
	t.Helper()
	sizes := map[string]*packageSize{}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (e.Name() == "testdata" || len(e.Name()) > 1 && e.Name()[0] == '.' && e.Name() != ".."):
			return filepath.SkipDir
		case e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		if sizes[folder] == nil {
			sizes[folder] = &packageSize{types: map[string]*typeSize{}}
		}
		return sizes[folder].add(text)
	})
	if err != nil {
		t.Fatal(err)
	}
	return sizes
}

// TestSizes compares every package and type with the limits.
func TestSizes(t *testing.T) {
	sizes := packageSizes(t, filepath.Join("..", ".."))
	if len(sizes) < 20 {
		t.Fatalf("only %d folders have Go files; the walk looks at the wrong place", len(sizes))
	}
	if len(oneNoun) > 2 {
		t.Errorf("%d packages may have more lines than others", len(oneNoun))
	}
	for folder, p := range sizes {
		if slices.Contains(oneNoun, folder) {
			if page, err := os.ReadFile(filepath.Join("..", "..", folder, "doc.go")); err != nil || !strings.Contains(string(page), "// # One noun\n") {
				t.Errorf("the page of %s does not argue why it has %d lines", folder, p.lines)
			}
			continue
		}
		if p.lines > maxLines && folder != "arch" && !strings.HasPrefix(folder, "arch/") {
			t.Errorf("package %s has %d lines; %d is the limit", folder, p.lines, maxLines)
		}
		for name, size := range p.types {
			checkSize(t, strings.TrimPrefix(folder, ".")+"."+name, size)
		}
	}
}

// checkSize compares a type with the limits.
func checkSize(t *testing.T, name string, size *typeSize) {
	if size.fields > maxFields {
		t.Errorf("%s has %d fields; %d is the limit", name, size.fields, maxFields)
	}
	if len(size.methods) > maxMethods {
		t.Errorf("%s has %d methods; %d is the limit", name, len(size.methods), maxMethods)
	}
}

// TestSizesAreCounted compares what is counted with what go doc would list of the same source.
func TestSizesAreCounted(t *testing.T) {
	p := &packageSize{types: map[string]*typeSize{}}
	const source = `package p

type pair[K comparable, V any] struct {
	first, second K // two fields
	_             [4]byte
	embedded
	*other
}

type embedded interface {
	A()
	B(int) (x, y int)
	other
}

type other = int

func (p pair[K, V]) One()  {}
func (p *pair[K, V]) Two() {}
func free()                {}
`
	if err := p.add([]byte(source)); err != nil {
		t.Fatal(err)
	}
	if err := p.add([]byte("package p\n\nfunc (p *pair[K, V]) Two() {}\n")); err != nil { // as in a file for another system
		t.Fatal(err)
	}
	if p.lines != 23 {
		t.Errorf("%d lines, want 23", p.lines)
	}
	for name, want := range map[string][2]int{"pair": {4, 2}, "embedded": {0, 2}, "other": {0, 0}} {
		if got := p.types[name]; got == nil || got.fields != want[0] || len(got.methods) != want[1] {
			t.Errorf("%s: %+v, want %d fields and %d methods", name, got, want[0], want[1])
		}
	}
	if len(p.types) != 3 {
		t.Errorf("%d types, want 3", len(p.types))
	}
}
