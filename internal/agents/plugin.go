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
func (e Env) naming(plugin []byte) []byte {
	plugin = bytes.ReplaceAll(plugin, []byte(`"@PROGRAM@"`), []byte(compact(e.Program)))
	return bytes.ReplaceAll(plugin, []byte(`["@ARGS@"]`), []byte(compact(e.bridgeArgs())))
}
