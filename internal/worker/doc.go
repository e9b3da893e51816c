// Package worker keeps commands running that answer one request after the other, so that a hook costs a
// round trip through two pipes instead of the start of an interpreter.
//
// Stage: dispatch. handler/command keeps a [Pool] for the hooks that declare worker = true, and hands it
// each event. It imports internal/process, which starts the workers and ends them.
//
// # Protocol
//
// A request is one line of JSON on the worker's stdin, the answer is one line on its stdout: a JSON object,
// or an empty line for nothing to say. An answer has to be flushed. What the worker writes to stderr is
// for people. The end of stdin tells it to exit; soon after comes SIGTERM.
//
//	while read -r event; do echo '{}'; done                            # sh
//	for line in sys.stdin: print(answer(json.loads(line)), flush=True) # Python
//	jq --unbuffered -c 'if .tool_name == "Bash" then {…} else {} end'  # jq is a worker as it is
//
// There is no other framing. JSON never needs a line end, each language reads lines and few read exact
// numbers of bytes as easily, and what goes wrong can be seen: a length would add nothing but a second way.
//
// # What holds
//
//   - A command has one process, started at the first call. Calls wait for it in the order in which they
//     came, and a worker has one request at a time.
//   - A call ends with its context, also while it waits for its turn, for a start, for the end of the
//     process before, or for the worker to read. A worker that was interrupted is stopped: what it would
//     say next belongs to no call.
//   - So is a worker that speaks unasked, answers with more than one line, with more than 1 MiB, or with
//     something else than an object; the call fails with an [AnswerError].
//   - A worker that ends instead of answering fails the call with an [ExitError]. The next call starts
//     another one, at once after the first such end, then after a pause that doubles.
//   - A worker is replaced after many calls, and when one of its files changes; it is stopped when no call
//     has asked for long, and by [Pool.Close]. There are never two of one process's kind: a call waits
//     until the old one is gone.
//   - What one worker writes can be taken for the answer to another request in one case alone: a worker
//     answers twice, and its second line comes after the next request was sent. It is stopped with the
//     line after that.
//
// The environment is that of the start. What differs from call to call is in the request.
package worker
