package typings

import (
	_ "embed"
	"strings"
)

//go:embed objects.d.ts
var objects string

const header = `// Types of gotap scripts, for editors and tsc. Written by gotap init; it is overwritten by the next.
//
// A function given to probe is a program: it is compiled, and runs at the probe. All other functions are JavaScript of the host.

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
