// Package trust decides whether a definition may run here.
//
// Stage: between parsing and registering, and once more at each dispatch. The
// registry asks it for each scope and each hook folder, the command line
// approves with it. It imports package hook alone, and it runs, expands and
// connects to nothing.
//
// # Two kinds of trust
//
// The managed and the user scope are trusted for who owns them: [Owners]
// refuses files that another user could have written, or whose folder another
// user could replace, all the way up to the root.
//
// What comes with a workspace or a package runs only after the operator
// approved it. An approval binds the definition ([Define]: what runs, when and with what
// policy) and every byte of the hook's folder: names, contents, execute bits
// and links. Empty folders are not bound. Files outside of the folder are bound
// if [Subject.Files] names them. What they load in turn, a package.json for
// instance, is not bound.
//
// Which files a command names depends on the environment and the directory that
// it runs in, so the caller finds out and hands them to [Guard.Check], each time.
// Where not all of them can be located the subject is unbound: what it runs can
// change without a new approval. [Store.Approve] refuses it, and
// [Store.ApproveUnbound] approves its definition and folder alone.
//
// Approvals are kept in a [Store] outside of the workspace, by the workspace's
// canonical path, the hook's ID and its file. Another checkout of the same
// content is another workspace, and needs an approval of its own. The one
// exception is made on purpose: [Export] writes approvals that hold wherever
// the content is found, for machines without a person. Such a file is opened
// with [OpenFile], and refused where it is in the workspace that it approves:
// there, the author of a changed hook could change its approval too.
//
// A store that is damaged, or that others can write, approves nothing and is
// left as it is.
//
// # From the check to the run
//
// Reading a hook's folder makes a [Seal]: digests to be judged and approved,
// and the identity of every file (device, inode, size, times of change, mode)
// so that [Seal.Intact] can tell for a stat a file that nothing moved. A
// [Guard] does both: it keeps the seal of a folder for as long as it holds, and
// reads the folder again when it does not. A file's times tell nothing if it changed at
// the moment it was read, so the seal of a file that is younger
// than a tenth of a second (two seconds, where times are whole seconds) does
// not hold yet.
//
// Between that check and the start of a process there is time to swap a script.
// [Snapshots] closes it: the approved bytes are copied, and held against their
// digests, into a private folder outside of the workspace, and run from there.
// So the bytes that were approved run, or nothing does. For a hook this means:
//
//   - its working directory and HOOK_DIR are the copy: ./run.sh, . ./lib.sh and
//     $HOOK_DIR/data.json work, ../other and the hook's original path do not
//     lead to approved bytes, TENTERHOOK_PROJECT_DIR is the way to the project;
//   - the copy is read-only; whatever a hook keeps goes elsewhere. In the
//     original, a file that a hook writes beside itself ends its approval;
//   - a link out of the folder, to a file of the same workspace, is a copy of
//     that file;
//   - the folder of the copies must not be on a file system mounted noexec.
//
// Files that [Subject.Files] names are run where they lie. Each check of a Guard
// reads and hashes them, because a process that holds a file mapped can change it
// without a trace in its times. The check is as near to the start as the caller
// puts it.
//
// # Windows
//
// A lower tier: access lists are not read, so ownership is not judged; a seal
// knows sizes and modification times alone, which a program can set back; and
// there is no execute bit.
package trust
