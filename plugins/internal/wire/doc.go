// Package wire is what both ends of the plugin protocol, and the fake host of
// the plugin authors' tests, do alike: it turns descriptions into hooks and back,
// reads what a plugin answered, and holds the limits.
//
// Stage: between package plugins and the bytes. It is imported by plugins,
// plugins/serve and plugins/serve/servetest.
package wire
