// Package discovery finds hook folders: it walks the scopes in their order and
// reads each <name>/HOOK.md, safely. Nothing is parsed and nothing is run.
//
// Stage: discover, the first of the pipeline. Package registry and the command
// line import it; it imports package hook alone.
//
// # Where hooks are looked for
//
//	managed  /etc/tenterhook (macOS: /Library/Application Support/tenterhook,
//	         Windows: C:\Program Files\tenterhook)
//	user     $XDG_CONFIG_HOME/tenterhook
//	project  <workspace>/.tenterhook
//	local    <workspace>/.tenterhook/local
//	plugin   $XDG_DATA_HOME/tenterhook/plugins/<package>, one scope a package
//	dir      each folder that the operator named
//
// A scope holds hooks/<name>/HOOK.md. A dir scope holds <name>/HOOK.md itself;
// there, a HOOK.md beside the folders (the operator named the hook's own
// folder) and hooks/<name>/HOOK.md (the operator named a whole scope) are taken
// too. A manifest or settings file that is beside these places, or has nearly
// the right name, is not read and gets a diagnostic. [ProjectRoot] finds the
// workspace. Within a scope folders come in the order of their names. A scope
// that is not there is no fault, but for a dir scope: the caller named it.
//
// # What is survived
//
// A HOOK.md is read if it is a regular file of at most [MaxManifest] bytes.
// Pipes, devices, sockets and folders of that name get a diagnostic at once,
// and so does whatever cannot be read, folders too; the other hooks load. A link is followed
// as long as it ends inside the scope's directory. The scope's directory itself
// may be a link, but that of the project and local scopes not out of the
// workspace.
//
// These promises are kept against a program that swaps files while they are read,
// on the operating system's own file system: paths are opened through [os.Root],
// without blocking, and what was opened is what is judged. On any other
// afero.Fs files are judged first and then opened, and links are refused.
package discovery
