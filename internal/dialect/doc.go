// Package dialect knows what the products that have hooks call things, and how
// they spell them: their names for events, the config files that declare their
// hooks, and the answers of these.
//
// Stage: parse (a config file becomes hooks, see [ReadConfig], and a name in a
// manifest an event, see [MapEvent]) and dispatch (what a hook printed becomes
// an Output, see [Reader]). Packages manifest and registry, and the handlers,
// import it; of this module it imports hook and internal/decl.
//
// # Config files
//
// One walk reads the files of all products, and each product is a table of
// choices in a file of its own: its names for events and tools, its keys, its
// unit of time, the shapes that it takes. To add one, write that table and name
// it in products.
//
//   - Events and tools get our names; an event without a counterpart keeps its
//     own. A matcher still takes what it took, and our names for that.
//   - A key that the product does not have has no effect, and is reported. So are
//     shapes that are nearly right: they are read as they were surely meant.
//   - A bad entry becomes a hook in StateInvalid, and the others load. A file
//     that cannot be read is one such hook.
//   - Size, depth, keys, values and hooks are bounded before a parser or a
//     regular expression meets them.
//
// # Answers
//
// One reading serves all protocols. Each protocol is a small table of choices
// (which exit code blocks, whether an object beats it, …), and each event a row
// of hook's event table; neither is code of its own.
//
// An answer is read strictly. Exactly one JSON object, no key twice at any
// depth, no key that another one differs from in case alone, right types. What
// is wrong makes the hook a failed one, whose failure policy then applies:
//
//   - It never weakens a verdict. Exit code 2 blocks whatever stdout says, and
//     an answer that two readers could read in two ways (a key twice, in two
//     cases or spellings) can still refuse, and do nothing else.
//   - A refusal in a place or in words that do not count (noise before the
//     object, "decision": "deny", a missing hookEventName) is a failure that
//     says what to write instead, never silence.
//   - What else the answer says (context, messages, a stop) still counts where
//     only its decision does not.
//
// The rules of protocol claude follow what the real client was seen to do;
// testdata holds the observations.
package dialect
