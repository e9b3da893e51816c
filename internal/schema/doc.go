// Package schema holds JSON values against a JSON Schema that somebody else
// wrote: that of a tool, whose input a hook rewrote, or of a model's answer.
//
// Stage: dispatch. Package registry and handler/model import it; it imports
// nothing of this project.
package schema
