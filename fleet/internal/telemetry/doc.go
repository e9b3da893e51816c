// Package telemetry makes OpenTelemetry spans and metrics of what a journal holds,
// and sends them over OTLP/HTTP.
//
// Stage: after the journal. Nothing of it is in the process of a hook: package cli
// runs a [Sender], which reads a journal by number, with a cursor of its own. A
// batch that was sent twice, since a process was killed before it could note that it
// was sent, is the same batch: the IDs of spans come from the run, and metrics are
// cumulative sums that the cursor keeps.
package telemetry
