package fleetpolicy

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/hiddeco/sshsig"

	"github.com/tenterhook/tenterhook/internal/phrase"
)

// PayloadType keeps these signatures apart from any other use of a key.
const PayloadType = "application/vnd.tenterhook.policy.v1+json"

// maxSignatures bounds how often a document is verified.
const maxSignatures = 16

// Envelope is a document with its signatures: a DSSE envelope.
type Envelope struct {
	PayloadType string      `json:"payloadType"`
	Payload     string      `json:"payload"` // base64
	Signatures  []Signature `json:"signatures"`
}

// Signature is one of them.
type Signature struct {
	KeyID string `json:"keyid"`
	Sig   string `json:"sig"` // base64
}

// Wrap makes an envelope without a signature.
func Wrap(d *Document) (*Envelope, error) {
	payload, err := d.Encode()
	if err != nil {
		return nil, err
	}
	return &Envelope{PayloadType, base64.StdEncoding.EncodeToString(payload), []Signature{}}, nil
}

// ReadEnvelope reads an envelope, whatever its signatures.
func ReadEnvelope(raw []byte) (*Envelope, error) {
	if len(raw) > MaxSize {
		return nil, refuse(CodeMalformed, "", "it is longer than %d KiB", MaxSize>>10)
	}
	e := new(Envelope)
	if err := strict(raw, e); err != nil {
		return nil, refuse(CodeMalformed, "", "it is no signed document: %v", err)
	}
	if e.PayloadType != PayloadType {
		return nil, refuse(CodeMalformed, "", "it is a signed document of type %q, and no policy", e.PayloadType)
	}
	if len(e.Signatures) > maxSignatures {
		return nil, refuse(CodeMalformed, "", "it has more than %d signatures", maxSignatures)
	}
	if _, err := e.payload(); err != nil {
		return nil, refuse(CodeMalformed, "", "its payload is no base64")
	}
	return e, nil
}

func (e *Envelope) payload() ([]byte, error) {
	return base64.StdEncoding.Strict().DecodeString(e.Payload)
}

// Message is what is signed.
func (e *Envelope) Message() []byte {
	payload, _ := e.payload() // it was read, or made here
	return fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(e.PayloadType), e.PayloadType, len(payload), payload)
}

// Document is what the envelope says, whether or not its signatures hold. To obey
// it, ask [Roots.Verify].
func (e *Envelope) Document() (*Document, error) {
	payload, err := e.payload()
	if err != nil {
		return nil, err
	}
	d, bad := decode(payload)
	if bad != nil {
		return nil, bad
	}
	return d, nil
}

// Sign adds the signature of a plain key, in place of an earlier one of its ID.
func (e *Envelope) Sign(id string, key ed25519.PrivateKey) { e.add(id, ed25519.Sign(key, e.Message())) }

// AddSSH adds a signature that ssh-keygen made of [Envelope.Message].
func (e *Envelope) AddSSH(id string, armored []byte) error {
	sig, err := sshsig.Unarmor(armored)
	if err != nil {
		return fmt.Errorf("it is no signature of ssh-keygen: %w", err)
	}
	if sig.Namespace != Namespace {
		return fmt.Errorf("it is made for %q: sign with ssh-keygen -Y sign -n %s", sig.Namespace, Namespace)
	}
	if sshsig.Verify(bytes.NewReader(e.Message()), sig, sig.PublicKey, sig.HashAlgorithm, Namespace) != nil {
		return errors.New("it is of something else")
	}
	e.add(id, sig.Marshal())
	return nil
}

func (e *Envelope) add(id string, sig []byte) {
	e.Signatures = append(slices.DeleteFunc(e.Signatures, func(s Signature) bool { return s.KeyID == id }),
		Signature{id, base64.StdEncoding.EncodeToString(sig)})
}

// Encode is the envelope as a file.
func (e *Envelope) Encode() ([]byte, error) {
	text, err := json.MarshalIndent(e, "", "  ")
	return append(text, '\n'), err
}

// Signed is a document that a key of its channel signed for this fleet. It is
// shared: do not change it.
type Signed struct {
	*Document
	Signers []string // the IDs of the keys whose signatures hold
	Digest  string   // SHA-256 of the payload
	Raw     []byte   // the envelope
}

// Verify returns the document of an envelope. It does not say whether the document
// is in force: an older one also verifies. The error is a [*Refusal].
func (r *Roots) Verify(raw []byte) (*Signed, error) {
	r.mu.Lock()
	known := r.verified[string(raw)]
	r.mu.Unlock()
	if known != nil {
		return known, nil
	}
	d, err := r.verify(raw)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.verified) >= maxVerified {
		clear(r.verified)
	}
	r.verified[string(raw)] = d
	return d, nil
}

// maxVerified bounds the documents that are remembered as verified.
const maxVerified = 4

func (r *Roots) verify(raw []byte) (*Signed, error) {
	e, err := ReadEnvelope(raw)
	if err != nil {
		return nil, err
	}
	// Nothing of the payload is looked at before a signature holds.
	good, bad := r.signers(e)
	if bad != nil {
		return nil, bad
	}
	payload, _ := e.payload()
	d, bad := decode(payload)
	if bad != nil {
		return nil, bad
	}
	var may []string
	for _, k := range good {
		if k.Channel == d.Channel {
			may = append(may, k.ID)
		}
	}
	switch {
	case len(may) == 0:
		return nil, refuse(CodeChannel, "sign it with a key of its channel", "it is of the channel %s, and the key %s signs %s", d.Channel, good[0].ID, good[0].Channel)
	case d.Fleet != r.Fleet:
		return nil, refuse(CodeForeign, "", "it is of the fleet %q, and this machine is in %q", d.Fleet, r.Fleet)
	}
	if _, bad := d.Config(0, ""); bad != nil {
		return nil, bad
	}
	sum := sha256.Sum256(payload)
	return &Signed{d, may, hex.EncodeToString(sum[:]), slices.Clone(raw)}, nil
}

// signers are the keys whose signatures hold, each once.
func (r *Roots) signers(e *Envelope) (good []*Key, bad *Refusal) {
	message := e.Message()
	bad = refuse(CodeUnknownKey, "sign it with one of the keys that the settings name", "it has no signature")
	for _, s := range e.Signatures {
		k := r.keys[s.KeyID]
		if k == nil {
			if bad.Code != CodeForged {
				bad = refuse(CodeUnknownKey, "sign it with one of the keys that the settings name", "it is signed by %q, which is no key of this fleet here", phrase.Clip(s.KeyID, 64))
			}
			continue
		}
		sig, err := base64.StdEncoding.Strict().DecodeString(s.Sig)
		if err != nil || !k.verifies(message, sig) {
			bad = refuse(CodeForged, "", "its signature under the name %s is not that key's: it was made with another key, or the document was changed", k.ID)
			continue
		}
		if !slices.Contains(good, k) {
			good = append(good, k)
		}
	}
	if len(good) > 0 {
		return good, nil
	}
	return nil, bad
}
