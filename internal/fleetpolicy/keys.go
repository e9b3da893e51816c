package fleetpolicy

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/hiddeco/sshsig"
	"golang.org/x/crypto/ssh"

	"github.com/tenterhook/tenterhook/internal/dialect"
)

// Namespace is what ssh signatures of documents are made for:
// ssh-keygen -Y sign -n tenterhook-policy.
const Namespace = "tenterhook-policy"

// keyPrefix is before a plain ed25519 key, as settings have it.
const keyPrefix = "ed25519:"

// Key is a public key, and the one channel that it signs.
type Key struct {
	ID, Channel string
	plain       ed25519.PublicKey // nil = an ssh key
	ssh         ssh.PublicKey
}

// Roots are whose documents count: what every other trust comes from. They are safe
// for concurrent use.
type Roots struct {
	Fleet string
	keys  map[string]*Key

	mu       sync.Mutex
	verified map[string]*Signed // by envelope; a few of the last
}

// RootsOf reads the keys that settings name. A key that is not usable makes all of
// them unusable.
func RootsOf(s dialect.FleetSettings) (*Roots, error) {
	if s.Wrong != "" {
		return nil, errors.New(s.Wrong)
	}
	r := &Roots{Fleet: s.Name, keys: make(map[string]*Key), verified: make(map[string]*Signed)}
	owners := make(map[string]string)
	for _, id := range slices.Sorted(maps.Keys(s.Keys)) {
		k, err := parseKey(s.Keys[id].Key)
		if err != nil {
			return nil, fmt.Errorf("fleet.keys.%s: %w", id, err)
		}
		k.ID, k.Channel = id, s.Keys[id].Channel
		if other, twice := owners[k.material()]; twice {
			return nil, fmt.Errorf("fleet.keys.%s is the same key as fleet.keys.%s: a key signs one channel, under one ID", id, other)
		}
		owners[k.material()] = id
		r.keys[id] = k
	}
	return r, nil
}

// Channels are the channels that a key may sign, in order.
func (r *Roots) Channels() []string {
	return slices.DeleteFunc(slices.Clone(dialect.PolicyChannels), func(c string) bool {
		for _, k := range r.keys {
			if k.Channel == c {
				return false
			}
		}
		return true
	})
}

// material is what makes a key the same as another.
func (k *Key) material() string {
	if k.plain != nil {
		return string(k.plain)
	}
	if c, ok := k.ssh.(ssh.CryptoPublicKey); ok {
		if plain, ok := c.CryptoPublicKey().(ed25519.PublicKey); ok {
			return string(plain)
		}
	}
	return string(k.ssh.Marshal())
}

// sshTypes are the ssh keys that may sign.
var sshTypes = []string{ssh.KeyAlgoED25519, ssh.KeyAlgoSKED25519, ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA384, ssh.KeyAlgoECDSA521,
	ssh.KeyAlgoSKECDSA256, ssh.KeyAlgoRSA}

func parseKey(text string) (*Key, error) {
	if raw, ok := strings.CutPrefix(text, keyPrefix); ok {
		plain, err := base64.StdEncoding.Strict().DecodeString(raw)
		if err != nil || len(plain) != ed25519.PublicKeySize {
			return nil, errors.New("it is no ed25519 key: 'tenterhook fleet policy keygen' prints one")
		}
		return &Key{plain: plain}, nil
	}
	public, _, _, rest, err := ssh.ParseAuthorizedKey([]byte(text))
	if err != nil || len(bytes.TrimSpace(rest)) > 0 {
		return nil, errors.New(`it is neither "ed25519:…" nor a line as in ~/.ssh/id_ed25519.pub`)
	}
	if !slices.Contains(sshTypes, public.Type()) {
		return nil, fmt.Errorf("ssh keys of type %s sign no policy: take an ed25519 key", public.Type())
	}
	return &Key{ssh: public}, nil
}

// verifies reports whether a signature is the key's, of a message.
func (k *Key) verifies(message, signature []byte) bool {
	if k.plain != nil {
		return ed25519.Verify(k.plain, message, signature)
	}
	sig, err := sshsig.ParseSignature(signature)
	if err != nil || sig.Signature == nil || sig.Signature.Format == ssh.KeyAlgoRSA { // that one is SHA-1
		return false
	}
	return sshsig.Verify(bytes.NewReader(message), sig, k.ssh, sig.HashAlgorithm, Namespace) == nil
}

// PublicText is a plain public key as settings have it.
func PublicText(public ed25519.PublicKey) string {
	return keyPrefix + base64.StdEncoding.EncodeToString(public)
}

// IDOf is the ID under which settings have a public key; "" = they do not.
func (r *Roots) IDOf(public string) string {
	k, err := parseKey(public)
	if r == nil || err != nil {
		return ""
	}
	for _, id := range slices.Sorted(maps.Keys(r.keys)) {
		if r.keys[id].material() == k.material() {
			return id
		}
	}
	return ""
}

// NewKey makes a pair of keys: the private one as PEM (PKCS #8), the public one as
// settings have it.
func NewKey() (private []byte, public string) {
	pub, key, _ := ed25519.GenerateKey(rand.Reader) // never fails
	der, _ := x509.MarshalPKCS8PrivateKey(key)      // this kind always encodes
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), PublicText(pub)
}

// PrivateKey reads what NewKey made. ok is false for a file of another kind, which
// may be an ssh key.
func PrivateKey(text []byte) (key ed25519.PrivateKey, ok bool) {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != "PRIVATE KEY" {
		return nil, false
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, false
	}
	key, ok = parsed.(ed25519.PrivateKey)
	return key, ok
}
