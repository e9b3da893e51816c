// Package stamp tells, for the cost of a stat, whether a file is the same that
// was read.
//
// It serves all stages that keep what they made of a file: package trust its
// verdicts, package registry its parsed definitions, package plugins the digests
// of executables, in a file too. It imports nothing of this project.
package stamp
