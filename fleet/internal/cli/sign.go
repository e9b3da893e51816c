package cli

import (
	"bytes"
	"cmp"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/BurntSushi/toml"
	"github.com/spf13/cobra"

	"github.com/tenterhook/tenterhook/fleet/internal/problem"
	"github.com/tenterhook/tenterhook/internal/fleetpolicy"
	"github.com/tenterhook/tenterhook/internal/phrase"
)

// signing is how a document is made and signed.
type signing struct {
	keys  []string // files of private keys, as PATH or ID=PATH
	valid time.Duration
}

func (s *signing) flags(cmd *cobra.Command, valid time.Duration) {
	cmd.Flags().StringArrayVar(&s.keys, "key", nil, "sign with the private key in this `FILE`: one of keygen, or any that ssh-keygen signs with; ID=FILE if the settings do not have it (repeatable)")
	cmd.Flags().DurationVar(&s.valid, "valid", valid, "how long the document is valid; after that it stays in force and is stale")
}

// envelope makes a document that is valid from now, without signatures.
func (s *signing) envelope(fleet, channel string, version int64, reason string, settings json.RawMessage) (*fleetpolicy.Envelope, error) {
	now := time.Now().UTC().Truncate(time.Second)
	return fleetpolicy.Wrap(&fleetpolicy.Document{Fleet: fleet, Channel: channel, Version: version, Issued: now, Expires: now.Add(s.valid), Reason: reason, Settings: settings})
}

// sign adds the signature of each key. roots say which ID a key has; nil = nothing
// is known.
func (s *signing) sign(cmd *cobra.Command, roots *fleetpolicy.Roots, e *fleetpolicy.Envelope) error {
	for _, name := range s.keys {
		id, path, named := strings.Cut(name, "=")
		if !named {
			id, path = "", name
		}
		if err := s.signWith(cmd, roots, e, id, path); err != nil {
			return err
		}
	}
	return nil
}

func (s *signing) signWith(cmd *cobra.Command, roots *fleetpolicy.Roots, e *fleetpolicy.Envelope, id, path string) error {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return problem.New("no_key", "there is no key "+path, "make one: tenterhook fleet policy keygen NAME --channel guard", err)
	}
	if err != nil {
		return err
	}
	if key, ok := fleetpolicy.PrivateKey(text); ok {
		public := fleetpolicy.PublicText(key.Public().(ed25519.PublicKey))
		if id = cmp.Or(id, roots.IDOf(public)); id == "" {
			return unknownKey(path)
		}
		e.Sign(id, key)
		return nil
	}
	public, err := os.ReadFile(strings.TrimSuffix(path, ".pub") + ".pub")
	if err != nil {
		return problem.New("no_key", path+" is no key of 'keygen', and as an ssh key it has no public one beside it", "name a file as ~/.ssh/id_ed25519 with id_ed25519.pub beside it", err)
	}
	if id = cmp.Or(id, roots.IDOf(string(public))); id == "" {
		return unknownKey(path)
	}
	c := exec.CommandContext(cmd.Context(), "ssh-keygen", "-Y", "sign", "-f", path, "-n", fleetpolicy.Namespace)
	var armored, said bytes.Buffer
	c.Stdin, c.Stdout, c.Stderr = bytes.NewReader(e.Message()), &armored, &said
	if err := c.Run(); err != nil { // it asks for a passphrase at the terminal
		return problem.New("not_signed", fmt.Sprintf("ssh-keygen does not sign with %s: %v: %s", path, err, strings.TrimSpace(said.String())), "try it by itself: ssh-keygen -Y sign -n "+fleetpolicy.Namespace+" -f "+path, err)
	}
	return e.AddSSH(id, armored.Bytes())
}

func unknownKey(path string) error {
	return problem.New("unknown_key", "no settings of this machine name the key "+path+" under [fleet.keys], so its ID is not known", "add it there, or say its ID: --key ID="+path, nil)
}

// draft reads the settings that a document is to have, from a file in TOML or JSON.
func draft(path string) (json.RawMessage, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, problem.New("no_file", err.Error(), "name a settings file, in TOML or JSON", err)
	}
	if filepath.Ext(path) == ".toml" {
		var table map[string]any
		if err := toml.Unmarshal(text, &table); err != nil {
			return nil, problem.New("bad_file", path+": "+err.Error(), "", err)
		}
		return json.Marshal(table)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, text); err != nil {
		return nil, problem.New("bad_file", path+": "+err.Error(), "name a settings file, in TOML or JSON", err)
	}
	return compact.Bytes(), nil
}

// keygenCommand makes a key.
func (a *app) keygenCommand() *cobra.Command {
	var channel string
	cmd := &cobra.Command{
		Use:   "keygen NAME",
		Short: "Make a key that signs policies",
		Long: "Writes the private key to NAME.key and prints the lines for the settings of the machines. An ssh key\n" +
			"does as well: then the line of its .pub file is the key. Keep release keys and on-call keys apart.",
		Example: "  tenterhook fleet policy keygen release --channel packs\n  tenterhook fleet policy keygen oncall --channel guard",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if channel != fleetpolicy.ChannelPacks && channel != fleetpolicy.ChannelGuard {
				return problem.New("bad_channel", fmt.Sprintf("--channel: there is no channel %q", channel), "use packs for release keys, guard for on-call keys", nil)
			}
			id := filepath.Base(args[0])
			private, public := fleetpolicy.NewKey()
			path := args[0] + ".key"
			f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
			if errors.Is(err, fs.ErrExist) {
				return problem.New("key_exists", path+" is there already", "choose another name", err)
			}
			if err == nil {
				_, err = f.Write(private)
				err = errors.Join(err, f.Sync(), f.Close())
			}
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(map[string]string{"id": id, "channel": channel, "key": public, "private": path})
			}
			fmt.Fprintf(a.out, "%s: keep it to yourself\nfor the settings of each machine, below [fleet] with the fleet's name:\n  [fleet.keys.%s]\n  channel = %q\n  key = %q\n", path, id, channel, public)
			return nil
		},
	}
	cmd.Flags().StringVar(&channel, "channel", "", "what it signs: packs or guard")
	_ = cmd.MarkFlagRequired("channel")
	_ = cmd.RegisterFlagCompletionFunc("channel", cobra.FixedCompletions([]string{"packs", "guard"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// signCommand makes and signs documents.
func (a *app) signCommand() *cobra.Command {
	var s signing
	var channel, fleet, reason, output, attached string
	var version int64
	var message bool
	cmd := &cobra.Command{
		Use:   "sign FILE",
		Short: "Make a signed document of a settings file, or add a signature to one",
		Long: "FILE is a settings file, in TOML or JSON, as far as documents may have settings: then a document with\n" +
			"the next version is made of it. Or it is a document already, and gets another signature.\n" +
			"To sign elsewhere: print the bytes with --message, sign them there with\n" +
			"'ssh-keygen -Y sign -n tenterhook-policy', and add that with --signature ID=FILE.",
		Example: "  tenterhook fleet policy sign packs.toml --channel packs --key release.key --output packs.policy\n" +
			"  tenterhook fleet policy sign packs.policy --key release-2.key --output packs.policy\n" +
			"  tenterhook fleet policy sign guard.toml --channel guard --key ~/.ssh/id_ed25519 --output guard.policy",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := a.desk(cmd.Context())
			if err != nil {
				return err
			}
			defer d.close()
			text, err := os.ReadFile(args[0])
			if err != nil {
				return problem.New("no_file", err.Error(), "name a settings file, or a signed document", err)
			}
			e, err := fleetpolicy.ReadEnvelope(text)
			if err != nil {
				settings, err := draft(args[0])
				if err != nil {
					return err
				}
				if channel == "" {
					return problem.New("no_channel", "--channel says what the document is about", "use --channel packs, or --channel guard", nil)
				}
				if fleet == "" && d.store == nil {
					return d.err
				}
				if version == 0 {
					if version, err = d.next(cmd.Context(), channel, false); err != nil {
						return err
					}
				}
				if e, err = s.envelope(cmp.Or(fleet, d.fleet()), channel, version, reason, settings); err != nil {
					return err
				}
			}
			if message {
				_, err := a.out.Write(e.Message())
				return err
			}
			if err := s.sign(cmd, d.roots(), e); err != nil {
				return err
			}
			if id, file, ok := strings.Cut(attached, "="); attached != "" && !ok {
				return problem.New("bad_signature", "--signature needs the key's ID", "as in --signature anna=FILE", nil)
			} else if ok {
				armored, err := os.ReadFile(file)
				if err == nil {
					err = e.AddSSH(id, armored)
				}
				if err != nil {
					return problem.New("bad_signature", file+": "+err.Error(), "sign what --message prints", err)
				}
			}
			return a.write(d, e, output)
		},
	}
	s.flags(cmd, 30*24*time.Hour)
	cmd.Flags().StringVar(&channel, "channel", "", "what the document is about: packs or guard")
	cmd.Flags().StringVar(&fleet, "fleet", "", "the fleet's `NAME` (default: that of this machine's settings)")
	cmd.Flags().StringVar(&reason, "reason", "", "why it is made, for people")
	cmd.Flags().Int64Var(&version, "version", 0, "its version (default: the one after that of this machine)")
	cmd.Flags().StringVar(&output, "output", "", "write it to this `FILE` (default: print it)")
	cmd.Flags().StringVar(&attached, "signature", "", "add the signature in a file of ssh-keygen, as `ID=FILE`")
	cmd.Flags().BoolVar(&message, "message", false, "print the bytes that are to be signed, and nothing else")
	_ = cmd.RegisterFlagCompletionFunc("channel", cobra.FixedCompletions([]string{"packs", "guard"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// write writes a document. A document that no machine of this fleet would believe is said
// to be so.
func (a *app) write(d *desk, e *fleetpolicy.Envelope, output string) error {
	raw, err := e.Encode()
	if err != nil {
		return err
	}
	if d.store != nil && len(e.Signatures) > 0 {
		if _, err := d.store.Roots.Verify(raw); err != nil {
			return refusal(err)
		}
	} else if document, err := e.Document(); err != nil {
		return refusal(err)
	} else if _, bad := document.Config(0, ""); bad != nil {
		return refusal(bad)
	}
	if len(e.Signatures) == 0 {
		fmt.Fprintln(a.err, "tenterhook: nobody has signed it yet: no machine obeys it")
	}
	if output == "" {
		_, err = a.out.Write(raw)
		return err
	}
	if err := os.WriteFile(output, raw, 0o644); err != nil {
		return err
	}
	if a.json {
		document, err := e.Document()
		if err != nil {
			return err
		}
		return a.printJSON(map[string]any{"file": output, "document": document, "signers": signers(e)})
	}
	document, err := e.Document()
	if err == nil {
		fmt.Fprintf(a.out, "%s: version %d of %s for the fleet %s, until %s\n", output, document.Version, document.Channel, phrase.Printable(document.Fleet), document.Expires.Local().Format(time.DateTime))
	}
	return err
}

func signers(e *fleetpolicy.Envelope) []string {
	ids := []string{}
	for _, s := range e.Signatures {
		ids = append(ids, s.KeyID)
	}
	return ids
}

// refusal is a refused document as an error of this program.
func refusal(err error) error {
	var bad *fleetpolicy.Refusal
	if errors.As(err, &bad) {
		return problem.New(bad.Code, "the policy is refused: "+bad.Message, bad.Hint, err)
	}
	return err
}
