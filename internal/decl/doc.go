// Package decl reads declarations of hooks: TOML, YAML and JSON (with comments)
// become one tree of nodes, each with its line, and tables of it are read key by
// key, with a diagnostic for each mistake.
//
// Stage: parse. Package manifest reads HOOK.md through it, package dialect the
// config files of all products. It imports hook and internal/phrase.
//
//	doc := decl.Parse(decl.TOML, `timeout = "5 s"`, decl.Options{})
//	t := decl.NewReader("HOOK.md", "HOOK.md").Table("", doc.Root)
//	limit := t.Duration("timeout", time.Second) // 0, and an error in t.Notes
//
// Before a parser sees a text its nesting and its values are counted, and so are
// the parts of each key in TOML: parsers take seconds or the whole stack where
// these have no bound.
package decl
