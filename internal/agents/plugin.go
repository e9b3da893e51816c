package agents

import (
	"bytes"
	_ "embed"
)

//go:embed plugins/opencode.js
var opencodePlugin []byte

//go:embed plugins/pi.ts
var piExtension []byte

// naming puts the bridge's path into a plugin, as a string of its language.
func naming(plugin []byte, program string) []byte {
	return bytes.ReplaceAll(plugin, []byte(`"@PROGRAM@"`), []byte(compact(program)))
}
