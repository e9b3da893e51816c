// Package load reads the files of all scopes: it makes definitions, settings and
// diagnostics of them, and knows at a reload what is as it was.
//
// Stage: between discovery and the dispatch. Package registry imports it: a
// [Reader] reads, [Layer] makes one policy of the settings, and package registry
// prepares, selects and runs what was read. Nothing here runs a hook.
//
//	all, err := reader.Load(ctx, nil)
//	settings, notes := load.Layer(all.Configs, "", nil)
package load
