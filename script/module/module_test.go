package module_test

import (
	"gotap/script"
	"gotap/script/scripttest"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestRequire(t *testing.T) {
	dir := scripttest.Write(t, map[string]string{
		"lib/a.js":      "const b = require('./b');\nlet calls = 0;\nexports.add = x => x + b.ONE;\nexports.count = () => { calls++; };\nexports.calls = () => calls;\nexports.where = __filename.endsWith('lib/a.js') && __dirname.endsWith('lib');\n",
		"lib/b.js":      "module.exports = { ONE: 1 };\n",
		"lib/data.json": `{"x": [1, 2]}`,
		"lib/typed.ts":  "export const big: number = 1 << 20;\nexport function half(x: number): number { return x / 2; }\n",
	})
	r := scripttest.New(t, `
const a = require("./lib/a.js"), { twice, NAME } = require("gotap/common"), typed = require("./lib/typed.ts");
console.log(a.add(1), require("./lib/data").x, a === require("./lib/a"), a.where, NAME);
probe("x", c => { a.count(); log(a.add(c.arg0), twice(c.arg0), typed.half(c.arg0), typed.big); });
end(() => console.log(a.calls()));
`, func(o *script.Options) { o.Dir = dir })
	scripttest.WantLines(t, r.Once(func() { r.Enter(0, 10) }), "2 [1, 2] true true common", "11 20 5 1048576", "1")
	if len(r.Script.Inputs()) < 4 {
		t.Errorf("inputs %v", r.Script.Inputs())
	}
}

func TestImport(t *testing.T) {
	dir := scripttest.Write(t, map[string]string{
		"state.js": "export let total = 0;\nexport function bump(n) { total += n; }\nexport default function helper(x) { return x * 3; }\n",
		"types.ts": "export enum Level { Low = 1, High }\nexport type T = number;\n",
	})
	r := scripttest.New(t, `
import helper, { total, bump } from "./state.js";
import * as state from "./state.js";
import { twice, LIMIT } from "gotap/test";
import { Level } from "./types";
let seen = 0;
probe("x", c => { seen++; bump(c.arg0); log(helper(c.arg0), twice(c.arg0), LIMIT, total, Level.High); });
end(() => console.log(total, state.total, seen));
`, func(o *script.Options) { o.Dir = dir })
	scripttest.WantLines(t, r.Once(func() { r.Enter(0, 2); r.Enter(0, 3) }), "6 4 4096 2 2", "9 6 4096 5 2", "5 5 2")
}

// TestSelfImport: a script that imports itself is reported once.
func TestSelfImport(t *testing.T) {
	dir := scripttest.Write(t, map[string]string{"s.js": "import { a } from './s.js';\nexport const b = a;\n"})
	_, list := script.Load(script.Options{Name: filepath.Join(dir, "s.js"), Text: "import { a } from './s.js';\nexport const b = a;\n", Dir: dir, Std: scripttest.Std})
	if n := strings.Count(list.Error(), "no matching export"); n != 1 || !strings.Contains(list.Error(), "in a circle") {
		t.Errorf("%d times\n%v", n, list)
	}
}

func TestBadModules(t *testing.T) {
	dir := scripttest.Write(t, map[string]string{
		"a.js":      "const b = require('./b');\n",
		"b.js":      "\nconst a = require('./a');\n",
		"m.js":      "import './n.js';\nexport const x = 1;\n",
		"n.js":      "import { x } from './m.js';\nexport const y = x;\n",
		"latin.js":  "const a = '\xe9';\n",
		"throws.js": "const a = 1;\nnull.x = a;\n",
		"syntax.js": "const a = ;\n",
		"bad.json":  "{",
	})
	for text, want := range map[string]string{
		"import('./a')":                        `s.js:1:1: error: import\(…\) is not possible here`,
		"require('./a')":                       `modules require each other in a circle: a.js → b.js → a.js`,
		"import './m.js';":                     `modules import each other in a circle: .*m.js → .*n.js → .*m.js`,
		"require('./latin')":                   `latin.js:1:12: error: the file is not UTF-8 text`,
		"import { a } from './latin.js'; a();": `latin.js:1:12: error: the file is not UTF-8 text`,
		"import './latin.js';":                 `latin.js:1:12: error: the file is not UTF-8 text`,
		"require('./throws')":                  `throws.js:2:\d+: error: TypeError`,
		"import './throws.js';":                `throws.js:2:\d+: error: TypeError`,
		"require('gotap/throws')":              `gotap/throws.js:3:\d+: error: TypeError`,
		"require('./syntax')":                  `syntax.js:1:11: error: unexpected ";"`,
		"import './syntax.js';":                `syntax.js:1:11: error: unexpected ";"`,
		"require('./bad.json')":                `cannot read .*bad.json: .*SyntaxError`,
		"require(5)":                           `require needs the name of a module`,
		"import { q } from 'gotap/test'; q();": `q`,
	} {
		_, list := script.Load(script.Options{Name: "s.js", Text: text + "\n", Dir: dir, Std: scripttest.Std})
		if strings.HasPrefix(want, "latin.js") && len(list) != 1 {
			t.Errorf("%s: %d errors\n%v", text, len(list), list)
		}
		if !list.HasErrors() || !regexp.MustCompile(want).MatchString(list.Error()) {
			t.Errorf("%s: %v", text, list)
		}
	}
}
