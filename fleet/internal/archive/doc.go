// Package archive keeps the audit of a fleet: every record that machines shipped,
// once, in SQLite.
//
// Stage: behind the hub's audit stream. A record's key is the machine, the journal,
// its number there and its run: a stream may deliver it twice, a machine that was
// restored from a copy may use a number twice, and neither loses anything. The
// machine is the one whose credential published the record, whatever the record
// says. Numbers without a gap prove that a journal arrived as a whole.
package archive
