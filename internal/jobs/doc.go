// Package jobs keeps hooks that wait for a worker of a fleet, as files in a state
// directory.
//
// Stage: between a dispatch and a fleet. The registry puts a [Job] there and takes its
// [Result]; the agent of tenterhook-fleet carries jobs to the hub, and results back.
// Neither waits for the other, and a job that no agent carries stays, and is shown. It
// imports package hook alone.
//
//	new/ID.json   waits to be carried
//	sent/ID.json  the hub has it
//	done/ID.json  its result, until it is taken
package jobs
