package load

import (
	"fmt"
	"strings"
	"testing"

	"gotap/compile/diag"
)

// depthOf is what checkDepth says of a text.
func depthOf(text string) string {
	if err := checkDepth(diag.NewSource("s.js", text)).Err(); err != nil {
		return err.Error()
	}
	return ""
}

// What makes a parser, or what comes after it, descend without end is refused before one sees it.
func TestDepthRefused(t *testing.T) {
	const n = 100_000
	again := func(s string) string { return strings.Repeat(s, n) }
	list := func(sep, item string) string { return strings.TrimSuffix(again(item+sep), sep) }
	for name, text := range map[string]string{
		"brackets": "let a = " + again("[") + again("]"), "open": again("["), "parentheses": "x = " + again("(") + "1" + again(")"),
		"blocks": again("{") + again("}"), "objects": "x = " + again("{a:") + "1" + again("}"), "calls within": again("f(") + again(")"),
		"if": again("if (x) { ") + again("}"), "if without braces": again("if (x) ") + ";", "if on lines": again("if (x)\n") + ";",
		"else if": "if (x) {}" + again(" else if (x) { x = 1 }"), "else if with semicolons": "if (x) a();" + again(" else if (x) a();"),
		"else if with commas": "if (x) a(), b();" + again("\nelse if (x) a(), b();"),
		"while":               again("while (x) ") + ";", "for": again("for (;;) ") + ";", "do": again("do ") + ";" + again(" while (x)"),
		"label": again("a: ") + ";", "switch": again("switch (x) { case 1: ") + again("}"), "try": again("try {") + again("} catch {}"),
		"not": "x = " + again("!") + "1", "tilde": "x = " + again("~") + "1", "minus": "x = " + again("- ") + "1", "typeof": "x = " + again("typeof ") + "1",
		"typeof on lines": "x = " + again("typeof\n") + "1", "new": again("new ") + "A", "await": again("await ") + "a", "yield": again("yield ") + "a",
		"sum": "x = " + list("+", "1"), "sum on lines": "x = " + list("\n+ ", "y"), "text": "x = " + list(" + ", `"a"`), "power": "x = " + list("**", "y"),
		"and": "x = " + list(" && ", "y"), "in": "x = " + list(" in ", "y"), "assignment": list(" = ", "x"), "comma": "(" + list(", ", "x") + ")",
		"comma statement": list(", ", "x"), "ternary": "x = " + again("y ? 1 : ") + "2", "ternary within": "x = " + again("y ? ") + "1" + again(" : 2"),
		"arrow": "x = " + again("y => ") + "1", "async arrow": "x = " + again("async y => ") + "1", "arrow with parentheses": "x = " + again("(y) => ") + "1",
		"functions": again("function f() {") + again("}"), "classes": again("class A { static x = ") + again("}"), "extends": again("class A extends ") + "B" + again("{}"),
		"template": "x = " + again("`${") + "1" + again("}`"), "tagged": "x" + again("`a`"), "members": "x = a" + again(".b"), "optional members": "x = a" + again("?.b"),
		"members on lines": "x = a" + again("\n.b"), "call chain": "a" + again("()"), "index chain": "a" + again("[0]"), "index within": again("a[") + again("]"),
		"spread": "x = " + again("[...") + again("]"), "pattern": "let " + again("[") + "a" + again("]") + " = 1", "keyof": "type A = " + again("keyof\n") + "B",
		"conditional type": "type A = " + again("A extends B ? C : ") + "D", "array type": "let a: any" + again("[]"), "union": "type A = " + list("|", "B"),
		"namespace": "namespace a" + again(".b") + " {}", "cast": "x = " + again("<any>") + "1", "JSON": `{"a":` + again("[") + again("]") + "}",
		"parameters": "x = " + strings.Repeat("(a = ", 30) + "1" + strings.Repeat(") => a", 30), "typed parameters": "x = " + strings.Repeat("(a: b = ", 30) + "1" + strings.Repeat("): b => a", 30),
		"parameters in templates":     "x = " + strings.Repeat("`${(a = ", 30) + "1" + strings.Repeat(") => a}`", 30),
		"behind a regular expression": "x = /['\"`]/.test(y); z = " + again("["),
	} {
		if got := depthOf(text); !strings.Contains(got, "levels") && !strings.Contains(got, "depend on each other") && !strings.Contains(got, "parameters of each other") {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// What is only long is not refused.
func TestDepthOfLongText(t *testing.T) {
	const n = 20_000
	again := func(s string) string { return strings.Repeat(s, n) }
	for name, text := range map[string]string{
		"statements": again("x = x + 1; "), "lines": again("x = y + 1\n"), "calls": again("f(x)\n"), "calls with semicolons": again("f(x); "),
		"probes": again("probe(\"f\", c => {\n\tif (c.arg0) log(c.arg0)\n\telse log(1)\n})\n"), "functions": again("function f() { return 1 }\n"),
		"functions on a line": again("function f() {} "), "classes": again("class A extends B { f() { } g() { } }\n"), "methods": "class A {" + again("f() { return 1 } ") + "}",
		"fields": "class A {" + again("x = 1\n") + "}", "cases": "switch (x) {" + again("case 1: x = 2; break; ") + "}", "labels of cases": "switch (x) {" + again("case 1: ") + "}",
		"declarations": "let a = 1" + again(", b = a + 1"), "object": "x = {" + again("a: 1 + 1, ") + "}", "object returned": "return {" + again("a: 1, ") + "}",
		"array": "x = [" + again("-1, ") + "]", "array of arrays": "x = [" + again("[1, 2],\n") + "]", "ifs": again("if (x) { y() }\n"), "ifs with else": again("if (x) y(); else z();\n"),
		"loops": again("for (let i = 0, j = 1; i < 5; i++) { x++ }\n"), "increments": again("x++\n"), "templates": "x = `" + again("${a + b} ") + "`", "texts": again("'a'\n"),
		"regular expressions": again("x = /[({[]/.test(y);\n"), "comments": again("/* ((( */ // [[[\n"), "decorated": again("@a class A {}\n"), "imports": again("import { a } from \"gotap/x\"\n"),
		"JSON": `{` + again(`"a": [1, -2], `) + `"b": 1}`, "arrows": again("f(x => y => x.a.b)\n"), "callbacks": strings.Repeat("f((a, b) => { g(() => 1); return h(c => c, (d) => ", 50) + "1" + strings.Repeat(") })", 50),
		"calls of callbacks": strings.Repeat("f(", 100) + strings.Repeat("(x) => 1, (y = z) => 2)", 100), "module": again("module.exports.a = x => x\n"),
	} {
		if got := depthOf(text); got != "" {
			t.Errorf("%s: %.300s", name, got)
		}
	}
}

// The limits are what the messages say, and the place is that of the first token that is too much.
func TestDepthLimits(t *testing.T) {
	nested := func(n int) string { return "x = " + strings.Repeat("[", n) + strings.Repeat("]", n) }
	chained := func(n int) string { return "x = y" + strings.Repeat(" + y", n-1) } // = is one
	for name, c := range map[string]struct {
		text string
		want string
	}{
		"nested": {nested(maxNesting), ""}, "nested too deep": {nested(maxNesting + 1), fmt.Sprintf("s.js:1:%d: error: the script is nested deeper than 500 levels\n", 5+maxNesting)},
		"chained": {chained(maxChain), ""}, "chained too long": {chained(maxChain + 1), fmt.Sprintf("s.js:1:%d: error: more than 5000 operators", 3+4*maxChain)},
	} {
		if got := depthOf(c.text); c.want == "" && got != "" || !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %.200q", name, got)
		}
	}
	// Neither parser has a problem with what is let through.
	for _, name := range []string{"s.js", "s.ts"} {
		for _, text := range []string{nested(maxNesting), chained(maxChain), "x = " + strings.Repeat("y => ", maxNesting) + "1"} {
			if f, list := (&Loader{}).Parse(name, ".", text); f == nil {
				t.Errorf("%s: %.100s: %v", name, text, list)
			}
		}
	}
}
