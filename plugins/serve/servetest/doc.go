// Package servetest is a host for the tests of plugins: it serves a
// [serve.Server] in the test's own process, through the real protocol, and
// reads its answers as a real host does.
//
// Stage: tests of plugins. Nothing but tests imports it.
package servetest
