// Package source fetches hook folders from elsewhere: a folder, an archive, a git
// repository, a pack in the store. It also keeps the lock file that says where the hooks of a folder
// came from.
//
// Stage: authoring. Nothing of a source runs, and nothing of it is trusted: names,
// links, sizes and counts are bounded and checked before a byte is written.
// Package internal/cli imports it.
package source
