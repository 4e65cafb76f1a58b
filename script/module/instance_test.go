package module_test

import (
	"gotap/script"
	"gotap/script/scripttest"
	"strings"
	"testing"
	"testing/fstest"
)

// A module runs once, whether import or require loads it and from wherever, and all that load it share its state.
func TestOneInstance(t *testing.T) {
	dir := scripttest.Write(t, map[string]string{
		"st.js":    "let n = 0;\nconsole.log('st runs');\nexport function next() { return ++n; }\nexport function half(v) { return v / 2; }\n",
		"cj.js":    "let n = 0;\nconsole.log('cj runs');\nexports.next = () => ++n;\n",
		"viaA.js":  "import { next } from './st.js';\nimport { tick } from 'gotap/ticker';\nexport const a = () => `${next()} ${tick()}`;\n",
		"viaB.js":  "const st = require('./st.js'); exports.b = () => st.next();\n",
		"typed.ts": "import { next } from './st.js';\nexport const t = (): number => next();\n",
	})
	std := fstest.MapFS{"ticker.js": {Data: []byte("let n = 10;\nexport function tick() { return ++n; }\n")}}
	for name, text := range map[string]string{
		"import first": `import { next, half } from "./st.js"; import * as cj from "./cj.js"; import { tick } from "gotap/ticker";
const { a } = require("./viaA.js"), { b } = require("./viaB.js"), { t } = require("./typed.ts"), cj2 = require("./cj.js");
console.log(next(), a(), b(), t(), cj.next(), cj2.next(), tick(), require("gotap/ticker").tick());
let x = 0; probe("f", c => { x += half(c.arg0) + require_half(c.arg0); }); function require_half(v) { return half(v); }`,
		"require alone": `const st = require("./st.js"), { a } = require("./viaA.js"), { b } = require("./viaB.js"), { t } = require("./typed.ts"), cj = require("./cj.js");
console.log(st.next(), a(), b(), t(), cj.next(), require("./cj").next(), require("gotap/ticker").tick(), require("gotap/ticker").tick());
let x = 0; probe("f", c => { x += st.half(c.arg0); });`,
	} {
		r := scripttest.New(t, text, func(o *script.Options) { o.Dir, o.Std = dir, std })
		got := strings.Join(strings.Fields(r.Finish()), " ")
		if want := "st runs cj runs 1 2 11 3 4 1 2 12 13"; got != want {
			t.Errorf("%s: %s, not %s", name, got, want)
		}
	}
}
