package hub

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/tenterhook/tenterhook/fleet/internal/problem"
)

const maxEnrollment = 64 << 10 // bytes, of a request and of an answer

// request is what a machine asks for. Its secret key never leaves it.
type request struct {
	Secret []byte `json:"secret"`
	Name   string `json:"name"`
	Key    string `json:"key"`
}

// answer is what it gets.
type answer struct {
	Connection *Connection `json:"connection,omitempty"` // without the seed
	Code       string      `json:"code,omitempty"`
	Message    string      `json:"message,omitempty"`
	Hint       string      `json:"hint,omitempty"`
}

// enrollment answers machines that have a token.
func (d *Dir) enrollment(run Run, log *slog.Logger) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /enroll", func(w http.ResponseWriter, r *http.Request) {
		var q request
		a := &answer{}
		err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxEnrollment)).Decode(&q)
		if err == nil {
			err = CheckName(q.Name)
		}
		if err == nil {
			a, err = d.admit(run, q)
		}
		if err != nil {
			log.Warn("a machine was not enrolled", "address", r.RemoteAddr, "err", err)
			a = &answer{Code: "bad_request", Message: err.Error()}
			if p := (*problem.Error)(nil); errors.As(err, &p) {
				a.Code, a.Hint = p.Code, p.Hint
			}
			w.WriteHeader(http.StatusForbidden)
		} else {
			log.Info("enrolled", "name", q.Name, "role", a.Connection.Role, "address", r.RemoteAddr)
		}
		_ = json.NewEncoder(w).Encode(a) // the client is gone
	})
	return mux
}

func (d *Dir) admit(run Run, q request) (*answer, error) {
	credential, role, err := d.redeem(q.Secret, q.Name, q.Key)
	if err != nil {
		return nil, err
	}
	return &answer{Connection: d.connection(run, role, q.Name, credential, "")}, nil
}

// Enroll asks a hub for a credential, once. The token says which hub it has to be.
func Enroll(ctx context.Context, address, token, name string) (*Connection, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	to, err := url.Parse(address)
	if err != nil || to.Scheme != "https" || to.Host == "" {
		return nil, problem.New("bad_url", fmt.Sprintf("%q is not where a hub enrolls machines", address), "use the URL that 'tenterhook fleet hub token' prints, such as https://hub.example.com:4223", err)
	}
	raw, err := hex.DecodeString(strings.TrimSpace(token))
	if err != nil || len(raw) != secretBytes+sha256.Size {
		return nil, problem.New("bad_token", "that is not a whole token", "copy it from the output of 'tenterhook fleet hub token'", err)
	}
	seed, key, err := newUser()
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(request{raw[:secretBytes], name, key})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	ask, err := http.NewRequestWithContext(ctx, http.MethodPost, to.JoinPath("enroll").String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: pinned(raw[secretBytes:], to.Hostname()), DisableKeepAlives: true}}
	said, err := client.Do(ask)
	if err != nil {
		return nil, problem.New("hub_unreachable", fmt.Sprintf("the hub did not enroll this machine: %v", err), "check the URL and that the hub runs; the token may be used already, then ask for another", err)
	}
	defer func() { _ = said.Body.Close() }() // read only
	var a answer
	if err := json.NewDecoder(io.LimitReader(said.Body, maxEnrollment)).Decode(&a); err != nil {
		return nil, problem.New("hub_unreachable", fmt.Sprintf("%s does not answer as a hub: %s", address, said.Status), "check the URL", err)
	}
	if a.Connection == nil || said.StatusCode != http.StatusOK {
		return nil, problem.New(a.Code, "the hub refuses: "+a.Message, a.Hint, nil)
	}
	if a.Connection.Name != name {
		return nil, problem.New("hub_unreachable", "the hub answered for another machine", "tell its operator", nil)
	}
	a.Connection.Seed = seed
	return a.Connection, nil
}
