package load

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/dop251/goja/file"
)

// Every word of a text that types and joining leave alone leads back to itself.
func TestOrigin(t *testing.T) {
	std := fstest.MapFS{"twice.ts": {Data: []byte("/* é */ export function twice(wide: number): number { return wide * 2 }\n")}}
	text := "interface A { x: number }\nlet tötal: number = 0; const ü = 'ñ𝒳'; let after: string = ü;\n" +
		"enum Color { Red }\nfunction helper(value: number) {\n\treturn value + tötal; }\nhelper(5);\n"
	for name, c := range map[string]struct{ prefix, in string }{
		"plain.ts":  {"", "plain.ts"},
		"joined.js": {`import { twice } from "gotap/twice";` + "\n", "gotap/twice.ts"},
	} {
		source := c.prefix + text
		if c.prefix != "" {
			source = c.prefix + "let after = 1;\nfunction helper(value) { return value; }\nhelper(twice(after));\n"
		}
		f, list := (&Loader{Std: std}).Parse(name, ".", source)
		if f == nil {
			t.Fatal(list)
		}
		if !f.Mapped() {
			t.Errorf("%s is not mapped", name)
		}
		for _, word := range []string{"after", "helper", "value", "wide"} {
			at := strings.Index(f.Source.Text, word)
			if at < 0 {
				continue
			}
			span := f.Span(file.Idx(at+Base), file.Idx(at+len(word)+Base))
			if got := span.Source.Text[span.Start:span.End]; got != word {
				t.Errorf("%s: %q leads to %q in %s", name, word, got, span.Source.Name)
			}
			if word == "wide" && span.Source.Name != c.in {
				t.Errorf("%q is in %s", word, span.Source.Name)
			}
		}
	}
}

// Plain scripts do not go through esbuild.
func TestNeedsBuild(t *testing.T) {
	for text, want := range map[string]bool{
		"probe('import', c => {});":                     false,
		"// import { x } from './x.js'\n":               false,
		"const a = require('./a');":                     false,
		"import './x.js';":                              true,
		"import{x}from'./x.js'":                         true,
		"export const x = 1;":                           true,
		"const important = 1; exporter(1)":              false,
		"  import * as x from 'gotap/x'":                true,
		"const t = `\nimport x from 'y'\n`; // unlucky": true,
	} {
		if got := needsBuild(entry{name: "s.js", text: text}); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	if !needsBuild(entry{name: "s.ts"}) || needsBuild(entry{name: "s.json"}) {
		t.Error("extensions are not looked at")
	}
}

// Lines are counted as the parser counts them.
func TestOffset(t *testing.T) {
	text := "a;\r\nbé;\rc;\u2028d;\n\ne"
	f, list := (&Loader{}).Parse("s.js", ".", text)
	if f == nil {
		t.Fatal(list)
	}
	for at := range text {
		if got := f.Offset(f.Tree.File.Position(at)); got != at {
			t.Errorf("offset %d comes back as %d", at, got)
		}
	}
}

func TestResolve(t *testing.T) {
	l := &Loader{Std: fstest.MapFS{"a.js": {}, "b.ts": {}, "c.d.ts": {}, "sub/x.js": {}}}
	for name, want := range map[string]string{"gotap/a": "gotap/a.js", "gotap/b": "gotap/b.ts", "gotap/a.js": "gotap/a.js", "gotap/sub/x": "gotap/sub/x.js"} {
		if got, err := l.Resolve("/nowhere", name); got != want || err != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for name, want := range map[string]string{"gotap/c": `"gotap/a", "gotap/b"`, "fs": `"./FILE"`, "./nothing": "/nowhere/nothing", "gotap/../x": "cannot find"} {
		if got, err := l.Resolve("/nowhere", name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// A script may have nothing to run: types, modules without statements.
func TestNothingToRun(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "none.ts"), []byte("export type A = number;\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"s.js": `import "./none.ts";`, "t.js": "export {};", "u.ts": "interface A {}", "v.ts": `import type { A } from "./none.ts";`} {
		if _, list := (&Loader{}).Parse(name, dir, text+"\n"); list.HasErrors() {
			t.Errorf("%s: %v", text, list.Err())
		}
	}
}

// What a linked file imports is looked for beside the link, and where the file is.
func TestResolveBesideLinked(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"bin", "src"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"src/a.js": `import "./b.js"; import "./c.js";`, "src/b.js": "1;", "src/c.js": "2;", "bin/c.js": "3;"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../src/a.js", filepath.Join(dir, "bin/linked.js")); err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(dir, "bin")
	f, list := (&Loader{}).Parse(filepath.Join(bin, "linked.js"), bin, `import "./b.js"; import "./c.js";`)
	if err := list.Err(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"src/b.js", "bin/c.js"} {
		if !slices.Contains(f.Inputs, filepath.Join(dir, want)) {
			t.Errorf("%s is not among %v", want, f.Inputs)
		}
	}
}

// Who asks for a module of Node's is told what there is in its place.
func TestModulesOfNode(t *testing.T) {
	for name, want := range map[string]string{"fs": "readFile(path)", "node:fs": "readFile(path)", "process": "env(name)", "lodash": ""} {
		_, err := (&Loader{}).Resolve("/nowhere", name)
		missing := &MissingError{}
		if !errors.As(err, &missing) || !strings.Contains(missing.Hint, want) || want == "" && missing.Hint != "" {
			t.Errorf("%s: %v, %q", name, err, missing.Hint)
		}
	}
}

// No text makes loading panic.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"", "probe('a', c => {", "import x", "\x00", "`${", "/*", "class A { #x", "export default", "let a: number = 1"} {
		f.Add(s, false)
		f.Add(s, true)
	}
	f.Fuzz(func(t *testing.T, text string, typed bool) {
		name := "s.js"
		if typed {
			name = "s.ts"
		}
		file, list := (&Loader{}).Parse(name, "/nowhere", text)
		if (file == nil || file.Run == nil) != list.HasErrors() {
			t.Errorf("file %v with %v", file, list)
		}
		_ = list.Error()
	})
}

// What is neither a script nor JSON is refused as such, and not run as JavaScript.
func TestImportOfText(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "d.txt"), []byte("hello"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, list := (&Loader{}).Parse("s.js", dir, `import d from "./d.txt";`)
	if !list.HasErrors() || !strings.Contains(list[0].Text, "a module is a script") {
		t.Errorf("errors are %v", list)
	}
}

// An import of TypeScript may have the name of what its compiler would make, and that of a folder means its index.
func TestNamesOfModules(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.ts", "both.js", "both.ts", "m.mts", "c.cts", "folder/index.ts", "old/index.js", "empty/x.js", "same.js", "same/index.js"} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("export const a = 1;\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	l := &Loader{}
	for name, want := range map[string]string{"./a": "a.ts", "./a.js": "a.ts", "./both.js": "both.js", "./both": "both.js", "./m.mjs": "m.mts",
		"./c.cjs": "c.cts", "./folder": "folder/index.ts", "./folder/": "folder/index.ts", "./folder/index.js": "folder/index.ts", "./old": "old/index.js",
		"./same": "same.js", "./empty": "", "./a.mjs": "", "./none.js": ""} {
		got, err := l.Resolve(dir, name)
		if want != "" {
			want = filepath.Join(dir, want)
		}
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%s is %q, %v; want %q", name, got, err, want)
		}
	}
}

// A module or an export that is misspelt is told with the one that it nearly is.
func TestNearModules(t *testing.T) {
	dir := t.TempDir()
	text := "export function errorName() {}\nconst a = 1, b = 2;\nexport { a as shown, b };\nexport default a;\n"
	if err := os.WriteFile(filepath.Join(dir, "common.js"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	typed := "export enum Mode { Fast }; export const enum Kind { A }\nexport type T = number;\nexport namespace N {\n  export const inside = 1;\n}\nexport abstract class C {}\n"
	if err := os.WriteFile(filepath.Join(dir, "typed.ts"), []byte(typed), 0o644); err != nil {
		t.Fatal(err)
	}
	l := &Loader{Std: fstest.MapFS{"errno.js": {Data: []byte(text)}, "files.js": {}}}
	for text, want := range map[string]string{
		`import x from "gotap/erno";`:                               `did you mean "gotap/errno"?`,
		`import x from "errno";`:                                    `did you mean "gotap/errno"?`,
		`import x from "common.js";`:                                `did you mean "./common.js"?`,
		`import x from "./comon.js";`:                               `did you mean ./common.js?`,
		`import x from "./comon";`:                                  `did you mean ./common?`,
		`import x from "./nothinglikeit.js";`:                       ``,
		`import { errorNmae } from "./common.js";`:                  `did you mean errorName?`,
		`import { zork } from "./typed";`:                           `it has Mode, Kind, N, C`,
		`import { a } from "./common.js";`:                          `it has errorName, shown, b`,
		`import { shwon } from "gotap/errno";`:                      `did you mean shown?`,
		`import * as E from "gotap/errno"; E.errorname();`:          `did you mean errorName?`,
		"import x from './common.js';\nimport y from 'gotap/fies';": `did you mean "gotap/files"?`,
	} {
		_, list := l.Parse("s.js", dir, text)
		if len(list) != 1 || list[0].Hint != want {
			t.Errorf("%s: %v, want %q", text, list, want)
		}
	}
}
