// Package eligibility says whether a hook can run here at all: whether the
// programs, environment variables and system that it requires are there.
//
// Stage: between parse and register, and again at each dispatch, since a
// program may go and a variable may come while an agent runs. Package registry
// imports it; it imports package hook and the standard library alone. It starts
// nothing: it stats files and reads variables.
//
// # Rules
//
//   - bins: each is found. any_bins: one of them is. A bare name is looked for
//     in the elements of PATH, in order. Relative elements ("", ".", "bin") are
//     not used, so that a workspace cannot bring its own git; nor is the current
//     directory on Windows. A path must be absolute; a relative one is refused.
//   - Only a file that this process may execute counts: no directory, no FIFO
//     or device. On Windows the extensions of PATHEXT are tried, as os/exec does.
//   - envs: each is set and not empty. Its value is neither kept nor shown.
//   - os: one of them is this system; darwin, osx and mac mean macos, win32 and
//     win mean windows, in any case. On another system nothing else is looked at.
//   - No requirement at all is eligible, at no cost.
//
// An explanation may name a file, or the relative element of PATH that was not
// used. Whatever manifests and PATH contain, it is one printable line.
//
// # How old an answer may be
//
// A lookup costs tens of microseconds, so a verdict is kept with what it was
// based on. Each call compares the environment (PATH, PATHEXT on Windows, which
// of the named variables are set): such a change counts at once. Files are not
// looked at each time: a program that appears, goes away, or loses its
// permission to be executed is noticed at the latest [Options.TTL] (1 s) after
// the last lookup ended. Until then a verdict may be wrong in either direction.
// So eligible is a forecast and the start of the hook is the proof: who sees a
// start fail because the program is not there calls [Check.Invalidate], and the
// next call looks again. The clock is monotonic: setting the wall clock
// changes nothing, and where the system stops it during suspend (Linux), the
// time asleep does not count.
//
// What has expired is proved again by a stat of the files that were found, and
// by a whole search for the files that were not. The modification times of PATH's
// directories would be no cheaper, and miss a chmod.
//
// A warm verdict costs one reading of the clock and one os.LookupEnv a variable,
// together less than 0.1 µs for a program, and allocates nothing. On Windows
// os.LookupEnv is a system call that allocates, so there it is dearer.
//
// Lookups wait for the file systems that PATH names; a file system that hangs makes the
// caller wait, as starting any program would.
package eligibility
