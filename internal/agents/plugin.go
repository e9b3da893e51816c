package agents

import (
	"bytes"
	_ "embed"
)

//go:embed plugins/opencode.js
var opencodePlugin []byte

//go:embed plugins/pi.ts
var piExtension []byte

// naming puts the bridge's path and arguments into a plugin, in its language.
func (c caller) naming(plugin []byte) []byte {
	plugin = bytes.ReplaceAll(plugin, []byte(`"@PROGRAM@"`), []byte(compact(c.program)))
	return bytes.ReplaceAll(plugin, []byte(`["@ARGS@"]`), []byte(compact(c.args())))
}
