// Package schema validates JSON values against a JSON Schema that a tool or a
// hook declares.
//
// Stage: dispatch. Package registry and handler/model import it; it imports
// nothing of this project.
package schema
