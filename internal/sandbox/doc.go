// Package sandbox contains what one call starts: no process of it outlives the call, and the stricter
// modes keep it from writing, from reading secrets and from the network.
//
// Stage: dispatch. internal/process calls [Do] around the start of a child. It imports nothing of this
// project.
//
// # How it works
//
// On Linux the *thread that forks* is restricted, and everything it forks inherits that: no_new_privs, no
// capabilities, a Landlock domain and a seccomp filter. It needs no root, no helper program and no user
// namespace. Go ends a thread whose goroutine ends without unlocking it, so nothing else ever runs on it.
//
// A Landlock domain that scopes signals makes kill(-1, SIGKILL) from that thread mean "every process of
// this run", also a process that called setsid and wiped its environment. Without the scope it would mean "every
// process of this user". So each thread first proves with a [canary] that its domain scopes.
//
// Each thread has two domains, one within the other. The guard lives in the outer one: a process that waits
// on a pipe from the host, and kills the outer domain when the pipe breaks because the host is gone. The
// run lives in the inner one, and can neither signal nor trace the guard.
//
// To prepare a thread costs more than a short run may wait. So a caller that asks for a policy again finds a
// spare thread that was prepared meanwhile. There are at most [maxSpares], and each ends after [spareFor].
//
// # What is not promised
//
// The names of files can be seen, the processor can be kept busy, and a fault of the kernel breaks
// everything. Other systems enforce less, and older kernels too: see [Probe] and [Policy.Enforceable].
package sandbox
