// Package tomlscan looks TOML over before a parser does: on which line each key
// stands, and whether the text nests deeper, or holds more, than the parser
// survives.
//
// It serves the readers of files that anybody may have written: package dialect
// those of config files, package manifest those of HOOK.md, where a line that
// closes the front matter is told from one within a string. It imports nothing
// of this project.
package tomlscan
