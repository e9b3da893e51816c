// Package journal keeps the result of every hook that ran or should have run.
//
// Stage: after a dispatch. [Recorder] is a [hook.Recorder] that appends lines to
// a spool, a file that many processes share under a lock. [Open] opens the
// journal itself, a SQLite database, and [Journal.Ingest] moves the spool into
// it, each line exactly once, whatever is killed. The command line and the
// daemon use it; a host that embeds the registry gives [Recorder] as
// registry.Options.Recorder if it wants a journal.
//
// It imports package hook alone. Everything is kept in one folder that only its
// owner can read.
package journal
