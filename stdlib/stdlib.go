package stdlib

import (
	"embed"
	"io/fs"
)

//go:embed *.js
var files embed.FS

// Files holds the modules: "errno.js" is imported as "gotap/errno".
func Files() fs.FS { return files }
