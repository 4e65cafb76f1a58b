package typings

import (
	_ "embed"
	"strings"
)

//go:embed objects.d.ts
var objects string

const header = `// Types of gotap scripts, for editors and tsc. Written by gotap init; it is overwritten by the next.
//
// A function given to probe is a program: it is compiled, and runs at the probe. All other functions are JavaScript of
// the host.

`

// Config is a jsconfig.json for the directory of the file. Each script has its own scope even without import or export,
// and is checked leniently. The types of browsers and of Node would only mislead.
const Config = `{
  "compilerOptions": {
    "checkJs": true,
    "allowJs": true,
    "strict": false,
    "noEmit": true,
    "target": "ES2022",
    "lib": ["ES2022"],
    "module": "ESNext",
    "moduleResolution": "bundler",
    "moduleDetection": "force",
    "types": []
  }
}
`

// Text returns the text of gotap.d.ts.
func Text() string {
	var b strings.Builder
	b.WriteString(header)
	b.WriteString(objects)
	writeInterfaces(&b)
	writeFunctions(&b)
	return b.String()
}

// title starts a section.
func title(b *strings.Builder, text string) {
	b.WriteString("\n// ---- " + text + " " + strings.Repeat("-", max(0, 111-len(text))) + "\n\n")
}

// comment writes documentation before its subject.
func comment(b *strings.Builder, indent, text string) {
	if text != "" {
		b.WriteString(indent + "/** " + strings.ReplaceAll(text, "*/", "* /") + " */\n")
	}
}

// Names returns a function that reports whether gotap.d.ts or the library of JavaScript declares a value of a name.
func Names() func(name string) bool {
	text := Text()
	return func(name string) bool {
		return javaScript[name] || strings.Contains(text, "declare function "+name+"(") || strings.Contains(text, "declare const "+name+":") ||
			strings.Contains(text, "declare namespace "+name+" ")
	}
}

// javaScript are the values of ES2022 whose names begin with a capital, as those of constants of enumerations do.
var javaScript = set("AggregateError Array ArrayBuffer Atomics BigInt BigInt64Array BigUint64Array Boolean DataView Date Error EvalError " +
	"FinalizationRegistry Float32Array Float64Array Function Infinity Int16Array Int32Array Int8Array Intl JSON Map Math NaN Number Object " +
	"Promise Proxy RangeError ReferenceError Reflect RegExp Set SharedArrayBuffer String Symbol SyntaxError TypeError URIError Uint16Array " +
	"Uint32Array Uint8Array Uint8ClampedArray WeakMap WeakRef WeakSet")

func set(words string) map[string]bool {
	all := map[string]bool{}
	for _, w := range strings.Fields(words) {
		all[w] = true
	}
	return all
}
