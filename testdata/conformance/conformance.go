// Package conformance embeds the conformance cases of tenterhook, one txtar
// archive each, named for what holds. Package hooktest says how they read and
// runs them; it alone imports this package.
package conformance

import "embed"

// Cases is a folder of NAME.txtar.
//
//go:embed *.txtar
var Cases embed.FS
