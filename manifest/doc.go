// Package manifest reads HOOK.md: front matter in TOML, YAML or JSON becomes
// hooks, and whatever is odd about it diagnostics with their lines.
//
// Stage: parse, between discover and trust. Package registry and the command
// line import it; it imports hook, dialect and internal/decl.
//
// # What is taken
//
// Our own keys, in snake_case or camelCase, and the manifests of starpod, moltis
// and openclaw. Front matter lies between two lines that hold +++ (TOML), ---
// (YAML) or ;;; (JSON) alone, or is a JSON object from a line with { to a line
// with } that an empty line follows. A fence within a value does not count. A
// byte order mark, blank lines before the fence and CRLF are fine.
//
//   - An event that the table does not know runs under its own name, if it is no
//     misspelling: hosts may fire events of their own.
//   - A hook without a type is a command hook. Without a command it is listed as
//     unsupported; with type = "command" but no command it is invalid.
//   - A timeout of 0 means the default, with a warning; a negative one, and one
//     that no time.Duration holds, is an error.
//   - A misspelt on_failure = "block" blocks: the hook is invalid, and that
//     counts as a failure.
//   - protocol = "starpod" makes the matcher a regular expression that is
//     searched, as it is there.
//   - A manifest whose events have moltis' names speaks moltis' protocol and has
//     10 seconds, unless it says otherwise.
//   - A manifest with trigger, which names the event for other hosts, is listed
//     as unsupported, and its other keys are not judged.
//
// # Bounds
//
// A file may have [MaxSize] bytes, and before a parser sees the front matter its
// nesting, its keys and the parts of each key are counted: parsers take seconds
// or the whole stack where these have no bound. YAML aliases are refused.
package manifest
