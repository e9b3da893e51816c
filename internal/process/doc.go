// Package process runs child processes safely: the floor under each hook that is a command, and under
// the servers and workers that stay.
//
// Stage: dispatch. handler/command builds a [Spec] from a hook and its input, [Run] runs it, and the
// handler reads the decision out of the [Result]. internal/worker, plugins and the MCP handler [Start] a
// [Service], speak with it, and Stop it. It imports nothing of this project.
//
// What holds, whatever the child of a Run does; but for the deadline and the caps, also that of a Start:
//
//   - One deadline covers the start, the write of stdin, the read of both outputs and the exit. Run
//     returns by Timeout + Grace + 250 ms. (An execve that hangs in the kernel, say on a dead network
//     file system, cannot be bounded: a fork cannot be left half-way.)
//   - The child leads a process group of its own. When Run returns, the group is gone, also when the
//     leader exited well and left children behind.
//   - Each output is capped, and the memory it takes is too.
//   - The child's descriptors are 0, 1 and 2 alone, even if the host leaks one. To that end a start
//     marks all descriptors of the host above 2 close-on-exec, as Go does with those it opens. A
//     host that means to hand one down to a process of its own passes it in ExtraFiles, as ever.
//   - If the host dies, the child dies, and its group.
//
// # How it works
//
// Run starts no goroutine. The calling one stays on its thread, since PR_SET_PDEATHSIG kills the child
// when the *thread* that forked it ends: this thread can not end before the child. There it waits for
// everything at once: the child's pipes, its exit, the deadline and the end of the context; on Linux in
// an epoll that is itself watched by Go's poller. Most inputs fit into the pipe before the child is
// started, and what the host needs to listen is set up while the child starts: so the cost above a bare
// os/exec is a few percent of a short hook, see BenchmarkSpawn. It costs one parked thread for each
// running child; who starts many at once should bound them.
//
// A [Service] outlives the call that started it, so there a goroutine of its own stays on the thread: it
// takes what the child says on stderr, notes its end, and sees to it that nothing is left. Stdin and
// stdout are the caller's, as plain files.
//
// # Tiers
//
//	                                  Linux              macOS            Windows
//	group stopped with the leader     process group      process group    job object
//	children that left the group      found and killed   –                in the job
//	host is killed: leader            at once (kernel)   guard            job object
//	host is killed: its children      guard              guard            job object
//	descriptors 0, 1, 2 alone         yes                yes              yes
//	polite stop before the kill       SIGTERM            SIGTERM          –
//
// The guard is a shell that waits on a pipe from the host, and kills the groups when that pipe breaks.
// There is at most one, and only while a child needs it: a child that has run for 5 ms and has children, or
// for 15 ms. Until then a host's death ends, on Linux, the child but not what the child started. Without
// /bin/sh there is no guard.
// Children that left the group (a daemon that called setsid) are found, from Linux 5.3 on, by a variable
// in their environment, [RunVariable]: a child that wipes its environment escapes. This is hygiene, no jail.
package process
