// Package importer makes HOOK.md folders of the hooks that an agent's config
// files declare.
//
// Stage: authoring. Package dialect reads the files, as a registry with Compat
// does; package manifest writes each hook. What a folder cannot say is reported
// and left out: a folder never decides other than its original. Package
// internal/cli imports it.
package importer
