// Package serve is the plugin author's side: a main of a dozen lines becomes a
// plugin that serves typed handlers to a host of hooks.
//
// Stage: the other end of dispatch, in a process of its own. Plugins import it;
// nothing of the host does.
//
//	func main() {
//		s := serve.New("guard", "1.0.0")
//		serve.On(s, "no-rm", noRm, func(h *hook.Hook) {
//			h.Matcher, h.OnFailure = "Bash", hook.FailureBlock
//		})
//		s.Main()
//	}
//
// Build it as tenterhook-plugin-guard, put it into plugins/guard/, and approve
// it with `tenterhook trust plugin/guard/guard`. Package servetest tests it without any of
// that. See plugins/proto for the contract.
package serve
