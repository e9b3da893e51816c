// Package resolve finds out what a command comes to in one environment and one
// directory: the program, its arguments, and the files that it reads or runs.
//
// Stages: trust and dispatch. The registry asks it what an approval has to bind,
// the command handler asks it what to start. Both get the same answer, because
// nothing is kept between two calls. It imports package hook alone; it looks at
// files and runs nothing.
//
// A shell line is read, not guessed at. Files are located in simple commands of
// literal and quoted words and variables of the environment, and in lists,
// pipes, groups and conditions of such commands. Whatever else a line holds
// makes the command unbound: what it runs can change while its words stay the
// same. The same holds for a program of which it is not known what it reads.
package resolve
