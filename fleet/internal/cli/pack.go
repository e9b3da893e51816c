package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenterhook/tenterhook/discovery"
	"github.com/tenterhook/tenterhook/fleet/internal/oci"
	"github.com/tenterhook/tenterhook/fleet/internal/problem"
	"github.com/tenterhook/tenterhook/internal/pack"
	"github.com/tenterhook/tenterhook/internal/phrase"
)

const refHelp = "REF is HOST/REPOSITORY:TAG or HOST/REPOSITORY@sha256:… of a registry, or oci:PATH:TAG or\n" +
	"oci:PATH@sha256:… of an OCI layout directory. A path that begins with '.' or '/' needs no oci:.\n" +
	"A registry on this machine is asked without TLS; credentials are those of docker login."

func (a *app) packCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "pack",
		Short: "Move folders of hooks through registries, by digest",
		Long: "A pack is a folder of hooks as an OCI artifact. The same files have the same digest everywhere,\n" +
			"and settings that name the digest let its hooks run: packs = [\"REF@sha256:…\"]\n\n" + refHelp,
		Example: "  tenterhook pack push ./hooks registry.example.com/team/guards:v1\n  tenterhook pack pull registry.example.com/team/guards:v1",
		Args:    cobra.ArbitraryArgs, RunE: needCommand,
	}
	cmd.PersistentFlags().DurationVar(&a.timeout, "timeout", 10*time.Minute, "how long all of it may take")
	cmd.AddCommand(a.pushCommand(), a.pullCommand(), a.verifyCommand(), a.listCommand(), a.pruneCommand())
	return cmd
}

// action is what a command of packs does, within the time that it has.
func (a *app) action(do func(ctx context.Context, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		ctx, cancel := context.WithTimeoutCause(cmd.Context(), a.timeout,
			&problem.Error{Code: "timeout", Message: fmt.Sprintf("it takes longer than %v", a.timeout), Hint: "give it more with --timeout"})
		defer cancel()
		err := do(ctx, args)
		if err != nil && cmd.Context().Err() == nil && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return err
	}
}

// summary is what is said of a pack.
type summary struct {
	Reference string   `json:"reference"` // with its digest
	Digest    string   `json:"digest"`
	Hooks     []string `json:"hooks"` // their manifests
	Files     int      `json:"files"`
	Bytes     int64    `json:"bytes"`
}

// summarize says what a pack holds. ref is where it is; the zero one = nowhere.
func summarize(ref pack.Reference, digest string, c *pack.Config) summary {
	s := summary{Reference: pinned(ref, digest), Digest: digest, Hooks: c.Hooks(), Files: len(c.Files)}
	for _, f := range c.Files {
		s.Bytes += f.Size
	}
	return s
}

// pinned is a reference as settings have it.
func pinned(ref pack.Reference, digest string) string {
	if ref == (pack.Reference{}) {
		return ""
	}
	ref.Tag, ref.Digest = "", digest
	if ref.Layout != "" {
		if abs, err := filepath.Abs(ref.Layout); err == nil {
			ref.Layout = abs
		}
	}
	return ref.String()
}

func (s summary) String() string {
	return fmt.Sprintf("%s, %s, %s", phrase.Count(len(s.Hooks), "hook"), phrase.Count(s.Files, "file"), size(s.Bytes))
}

func size(bytes int64) string {
	switch {
	case bytes >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20))
	case bytes >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(bytes)/(1<<10))
	}
	return fmt.Sprintf("%d bytes", bytes)
}

// progress says each second how far it is.
func (a *app) progress() oci.Progress {
	next := time.Now().Add(time.Second)
	return func(what string, done, all int64) {
		if now := time.Now(); now.After(next) {
			next = now.Add(time.Second)
			fmt.Fprintf(a.err, "%s: %s of %s\n", what, size(done), size(all))
		}
	}
}

// reference reads an argument.
func reference(text string) (pack.Reference, error) {
	ref, err := pack.ParseReference(text)
	if err != nil {
		return ref, &problem.Error{Code: "bad_reference", Message: err.Error(), Hint: "see 'tenterhook pack --help'"}
	}
	return ref, nil
}

func (a *app) pushCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "push DIR REF",
		Short: "Make a pack of a folder of hooks and push it",
		Long: "DIR holds hook folders, as <name>/HOOK.md or hooks/<name>/HOOK.md. All its files are pushed, but\n" +
			"for .git. The digest depends on their names, their contents and who may execute them, on nothing\n" +
			"else. A tag that named another pack names this one then.\n\n" + refHelp,
		Example: "  tenterhook pack push ./hooks registry.example.com/team/guards:v1\n  tenterhook pack push ./hooks oci:/srv/packs/guards:v1 --json",
		Args:    cobra.ExactArgs(2),
		RunE: a.action(func(ctx context.Context, args []string) error {
			ref, err := reference(args[1])
			if err != nil {
				return err
			}
			artifact, err := read(args[0])
			if err != nil {
				return err
			}
			before, err := oci.Push(ctx, artifact, ref, a.progress())
			if err != nil {
				return err
			}
			s := summarize(ref, artifact.Digest, &artifact.Contents)
			if a.json {
				return a.printJSON(struct {
					summary
					Tag    string `json:"tag,omitempty"`
					Before string `json:"before,omitempty"` // the digest that the tag named
				}{s, ref.Tag, before})
			}
			fmt.Fprintf(a.out, "pushed %s\n", s)
			if before != "" {
				fmt.Fprintf(a.out, "the tag %s named %s before\n", ref.Tag, before)
			}
			fmt.Fprintf(a.out, "%s\n", s.Reference)
			return nil
		}),
	}
}

// read makes a pack of a folder.
func read(dir string) (*oci.Artifact, error) {
	artifact, err := oci.Read(dir)
	if err != nil {
		return nil, &problem.Error{Code: "bad_folder", Message: dir + " cannot be a pack: " + err.Error()}
	}
	return artifact, nil
}

func (a *app) pullCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "pull REF",
		Short: "Fetch a pack into the store of this machine",
		Long: "The whole pack is compared with its digest before it is there. Nothing of it runs until the user's\n" +
			"or the managed settings name the digest. A pack that changed in the store is fetched again; one\n" +
			"that is there needs no network, if REF has a digest.\n\n" + refHelp,
		Example: "  tenterhook pack pull registry.example.com/team/guards:v1\n  tenterhook pack pull oci:/srv/packs/guards:v1 --json",
		Args:    cobra.ExactArgs(1),
		RunE: a.action(func(ctx context.Context, args []string) error {
			ref, err := reference(args[0])
			if err != nil {
				return err
			}
			state := discovery.DefaultStateDir()
			if state == "" {
				return &problem.Error{Code: "no_home", Message: "no home directory is known, so there is no store", Hint: "set HOME to an absolute path"}
			}
			s, folder, err := a.pull(ctx, ref, state)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(struct {
					summary
					Folder string `json:"folder"`
				}{s, folder})
			}
			fmt.Fprintf(a.out, "%s: %s\nname it in settings.toml of the user or the administrator, and its hooks run:\n  packs = [%q]\n", s, folder, s.Reference)
			return nil
		}),
	}
}

// pull brings a pack into the store. A pack that is there, by digest, is not fetched.
func (a *app) pull(ctx context.Context, ref pack.Reference, state string) (summary, string, error) {
	if p, err := pack.Open(state, cmp.Or(ref.Digest, "none")); err == nil && p.Changed() == "" {
		return summarize(ref, p.Digest, &p.Config), pack.Folder(state, p.Digest), nil
	}
	remote, err := oci.Look(ctx, ref)
	if err != nil {
		return summary{}, "", err
	}
	folder, err := remote.Pull(ctx, state, a.progress())
	return summarize(ref, remote.Digest, &remote.Contents), folder, err
}

func (a *app) verifyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "verify REF|DIR",
		Short: "Compare a pack with its digest, or say the digest of a folder",
		Long: "Of REF every byte is fetched and compared, and nothing is written; a copy in the store of this\n" +
			"machine is compared too. Of DIR, a folder of hooks, it says the digest that push would give it.\n\n" + refHelp,
		Example: "  tenterhook pack verify registry.example.com/team/guards@sha256:…\n  tenterhook pack verify ./hooks",
		Args:    cobra.ExactArgs(1),
		RunE: a.action(func(ctx context.Context, args []string) error {
			if isFolder(args[0]) {
				artifact, err := read(args[0])
				if err != nil {
					return err
				}
				return a.printVerified(summarize(pack.Reference{}, artifact.Digest, &artifact.Contents), "")
			}
			ref, err := reference(args[0])
			if err != nil {
				return err
			}
			remote, err := oci.Look(ctx, ref)
			if err != nil {
				return err
			}
			if err := remote.Verify(ctx, a.progress()); err != nil {
				return err
			}
			stored := "missing"
			if there, changed := oci.Stored(discovery.DefaultStateDir(), remote.Digest); changed != "" {
				return &problem.Error{Code: "pack_changed", Message: "its copy in the store is not as it was pulled: " + changed,
					Hint: "fetch it again: tenterhook pack pull " + pinned(ref, remote.Digest)}
			} else if there {
				stored = "intact"
			}
			return a.printVerified(summarize(ref, remote.Digest, &remote.Contents), stored)
		}),
	}
}

// isFolder reports whether an argument is a folder that is no layout directory.
func isFolder(arg string) bool {
	info, err := os.Stat(arg)
	if err != nil || !info.IsDir() {
		return false
	}
	_, err = os.Stat(filepath.Join(arg, "oci-layout"))
	return err != nil
}

// printVerified says that a pack is as its digest says. stored is of the copy in
// the store; "" = it was not asked for.
func (a *app) printVerified(s summary, stored string) error {
	if a.json {
		return a.printJSON(struct {
			summary
			Stored string `json:"stored,omitempty"`
		}{s, stored})
	}
	fmt.Fprintf(a.out, "%s\n%s\n", s, cmp.Or(s.Reference, s.Digest))
	switch stored {
	case "intact":
		fmt.Fprintln(a.out, "the copy in the store is the same")
	case "missing":
		fmt.Fprintln(a.out, "there is no copy in the store")
	}
	return nil
}

func (a *app) listCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list REF",
		Short: "List the files of a pack, or the tags of a place",
		Long: "Of REF with a tag or a digest it lists the pack's files, without fetching them; of REF with neither\n" +
			"it lists the tags, and the digest that each names now.\n\n" + refHelp,
		Example: "  tenterhook pack list registry.example.com/team/guards\n  tenterhook pack list oci:/srv/packs/guards:v1 --json",
		Args:    cobra.ExactArgs(1),
		RunE: a.action(func(ctx context.Context, args []string) error {
			ref, err := reference(args[0])
			if err != nil {
				return err
			}
			if ref.Tag == "" && ref.Digest == "" {
				return a.listTags(ctx, ref)
			}
			remote, err := oci.Look(ctx, ref)
			if err != nil {
				return err
			}
			s := summarize(ref, remote.Digest, &remote.Contents)
			if a.json {
				return a.printJSON(struct {
					Reference string      `json:"reference"`
					Digest    string      `json:"digest"`
					Hooks     []string    `json:"hooks"`
					Files     []pack.File `json:"files"`
				}{s.Reference, s.Digest, s.Hooks, remote.Contents.Files})
			}
			fmt.Fprintf(a.out, "%s\n%s\n", s.Reference, s)
			for _, f := range remote.Contents.Files {
				mark := " "
				if f.Exec {
					mark = "x"
				}
				fmt.Fprintf(a.out, "%s %10s  %s\n", mark, size(f.Size), f.Name)
			}
			return nil
		}),
	}
}

// listTags lists what there is at a place.
func (a *app) listTags(ctx context.Context, ref pack.Reference) error {
	tags, err := oci.Tags(ctx, ref)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(map[string]any{"tags": tags})
	}
	for _, t := range tags {
		fmt.Fprintf(a.out, "%s\t%s\n", phrase.Printable(t.Tag), phrase.Printable(t.Digest))
	}
	if len(tags) == 0 {
		fmt.Fprintln(a.out, "there are no tags")
	}
	return nil
}
