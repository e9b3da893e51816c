// Package work lets workers of a fleet run hooks of other machines.
//
// Stage: between the spool of jobs (internal/jobs) and a hub. A [Courier] carries a
// machine's jobs to the stream JOBS, and results back. A [Worker] takes jobs of one
// queue and runs hooks by the digests of their packs. A [Keeper], beside the hub, makes
// a consumer for each queue and buries jobs that no worker survives.
//
// A job is delivered again until a worker confirms it, so it may run more than once;
// the first result counts. Its ID says which job it is: the stream drops a second copy,
// a worker skips a job with a result, and a result is created once.
package work
