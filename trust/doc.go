// Package trust decides whether a definition may run here.
//
// Stage: between parsing and registering. The registry asks it for each scope
// and each hook folder; it runs and expands nothing.
//
// The managed and the user scope are trusted for who owns them: files that
// somebody else could have written are not taken at their word.
package trust
