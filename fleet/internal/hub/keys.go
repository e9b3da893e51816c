package hub

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"

	"github.com/tenterhook/tenterhook/fleet/internal/problem"
)

// Role is what the owner of a credential may do.
type Role string

// The roles.
const (
	// Machine ships its own audit, submits its own jobs, says its own state, and reads
	// the policy and the results of its own jobs.
	Machine Role = "machine"
	// Worker takes jobs and writes results.
	Worker Role = "worker"
	// Publisher writes the policy, and reads what machines say of themselves.
	Publisher Role = "publisher"
	// Admin may do everything in the hub's account: archive, declare streams, look.
	Admin Role = "admin"
)

// Roles are all roles.
func Roles() []Role { return []Role{Machine, Worker, Publisher, Admin} }

// keys are the seeds of a hub.
type keys struct {
	Operator, System            []byte
	Hub, Machines, Workers      []byte // accounts
	MachineSigner, WorkerSigner []byte
	PublisherSigner             []byte
	AdminSigner                 []byte
}

func newKeys() (*keys, error) {
	k := &keys{}
	for _, x := range []struct {
		to   *[]byte
		make func() (nkeys.KeyPair, error)
	}{
		{&k.Operator, nkeys.CreateOperator}, {&k.System, nkeys.CreateAccount}, {&k.Hub, nkeys.CreateAccount}, {&k.Machines, nkeys.CreateAccount},
		{&k.Workers, nkeys.CreateAccount}, {&k.MachineSigner, nkeys.CreateAccount}, {&k.WorkerSigner, nkeys.CreateAccount},
		{&k.PublisherSigner, nkeys.CreateAccount}, {&k.AdminSigner, nkeys.CreateAccount},
	} {
		pair, err := x.make()
		if err != nil {
			return nil, err
		}
		if *x.to, err = pair.Seed(); err != nil {
			return nil, err
		}
	}
	return k, nil
}

// public is the public key of a seed.
func public(seed []byte) (string, error) {
	pair, err := nkeys.FromSeed(seed)
	if err != nil {
		return "", err
	}
	return pair.PublicKey()
}

// grant is what a role may do. {{name()}} is the name in the credential, so that no
// server has to know a new machine.
type grant struct {
	account, signer func(*keys) []byte
	pub, sub        []string
}

var grants = map[Role]grant{
	Machine: {
		account: func(k *keys) []byte { return k.Machines }, signer: func(k *keys) []byte { return k.MachineSigner },
		pub: []string{"audit.{{name()}}.>", "jobs.{{name()}}.>", "$KV.machines.{{name()}}", "$JS.API.DIRECT.GET.KV_policy.>", "$JS.API.DIRECT.GET.KV_results.$KV.results.{{name()}}.>"},
		sub: []string{"_INBOX.{{name()}}.>", "policy.>", "results.{{name()}}.>"},
	},
	Worker: {
		account: func(k *keys) []byte { return k.Workers }, signer: func(k *keys) []byte { return k.WorkerSigner },
		pub: []string{workerAPI + ".CONSUMER.MSG.NEXT.JOBS.>", workerAPI + ".CONSUMER.INFO.JOBS.>", workerAPI + ".STREAM.INFO.JOBS", "$JS.ACK.JOBS.>", "$KV.results.>", "dead.>"},
		sub: []string{"_INBOX.{{name()}}.>"},
	},
	Publisher: {
		account: func(k *keys) []byte { return k.Hub }, signer: func(k *keys) []byte { return k.PublisherSigner },
		pub: []string{"$KV.policy.>", "$JS.API.STREAM.INFO.KV_policy", "$JS.API.STREAM.INFO.KV_machines", "$JS.API.DIRECT.GET.KV_policy.>", "$JS.API.DIRECT.GET.KV_machines.>"},
		sub: []string{"_INBOX.{{name()}}.>", "$KV.policy.>", "$KV.machines.>"},
	},
	Admin: {
		account: func(k *keys) []byte { return k.Hub }, signer: func(k *keys) []byte { return k.AdminSigner },
		pub: []string{">"}, sub: []string{">"},
	},
}

// workerAPI stands for $JS.API in the account of workers: there the server itself
// answers what has that name.
const workerAPI = "HUB.API"

// passage is a subject of the hub's account that another account reaches.
type passage struct {
	subject  string
	kind     jwt.ExportType
	response jwt.ResponseType // of a service; "" = one answer
}

var passages = map[Role][]passage{
	Machine: {
		{"audit.>", jwt.Service, ""}, {"jobs.>", jwt.Service, ""}, {"$KV.machines.>", jwt.Service, ""},
		{"$JS.API.DIRECT.GET.KV_policy.>", jwt.Service, ""}, {"$JS.API.DIRECT.GET.KV_results.>", jwt.Service, ""},
		{"policy.>", jwt.Stream, ""}, {"results.>", jwt.Stream, ""},
	},
	Worker: {
		{"$JS.API.CONSUMER.MSG.NEXT.JOBS.>", jwt.Service, jwt.ResponseTypeStream}, {"$JS.API.CONSUMER.INFO.JOBS.>", jwt.Service, ""},
		{"$JS.API.STREAM.INFO.JOBS", jwt.Service, ""}, {"$JS.ACK.JOBS.>", jwt.Service, ""}, {"$KV.results.>", jwt.Service, ""}, {"dead.>", jwt.Service, ""},
	},
}

// accounts returns the JWT of each account, by its public key. revoked has the
// public keys of users that may no longer connect, and since when.
func (k *keys) accounts(revoked map[string]time.Time) (map[string]string, error) {
	operator, err := nkeys.FromSeed(k.Operator)
	if err != nil {
		return nil, err
	}
	hub, err := public(k.Hub)
	if err != nil {
		return nil, err
	}
	claims := map[string]*jwt.AccountClaims{}
	claimsOf := func(seed []byte, name string) (*jwt.AccountClaims, error) {
		key, err := public(seed)
		if err != nil {
			return nil, err
		}
		if claims[key] == nil {
			claims[key] = jwt.NewAccountClaims(key)
			claims[key].Name = name
			for user, at := range revoked {
				claims[key].RevokeAt(user, at)
			}
		}
		return claims[key], nil
	}
	own, err := claimsOf(k.Hub, "hub")
	if err != nil {
		return nil, err
	}
	own.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: -1, DiskStorage: -1, Streams: -1, Consumer: -1}
	if _, err := claimsOf(k.System, "system"); err != nil {
		return nil, err
	}
	exported := map[string]bool{}
	for _, role := range Roles() {
		g := grants[role]
		account, err := claimsOf(g.account(k), string(role)+"s")
		if err != nil {
			return nil, err
		}
		scope := jwt.NewUserScope()
		if scope.Key, err = public(g.signer(k)); err != nil {
			return nil, err
		}
		scope.Role = string(role)
		scope.Template.Permissions.Pub.Allow.Add(g.pub...)
		scope.Template.Permissions.Sub.Allow.Add(g.sub...)
		account.SigningKeys.AddScopedSigner(scope)
		for _, p := range passages[role] {
			if !exported[p.subject+string(rune(p.kind))] {
				exported[p.subject+string(rune(p.kind))] = true
				own.Exports.Add(&jwt.Export{Name: p.subject, Subject: jwt.Subject(p.subject), Type: p.kind, ResponseType: p.response})
			}
			account.Imports.Add(imported(p, hub))
		}
	}
	encoded := map[string]string{}
	for key, c := range claims {
		if encoded[key], err = c.Encode(operator); err != nil {
			return nil, err
		}
	}
	return encoded, nil
}

func imported(p passage, from string) *jwt.Import {
	i := &jwt.Import{Name: p.subject, Subject: jwt.Subject(p.subject), Account: from, Type: p.kind}
	if rest, ok := strings.CutPrefix(p.subject, "$JS.API."); ok && !strings.HasPrefix(rest, "DIRECT.") {
		i.LocalSubject = jwt.RenamingSubject(workerAPI + "." + rest)
	}
	return i
}

// goodName is a name that is one token of a subject, and a file's name on every system.
var goodName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,62}$`)

// CheckName fails for a name that no machine, worker or person can have.
func CheckName(name string) error {
	if !goodName.MatchString(name) {
		return &problem.Error{Code: "bad_name", Message: fmt.Sprintf("%q cannot be the name of a machine", name), Hint: "use up to 63 of a-z, 0-9, '-' and '_', such as 'laptop-7'"}
	}
	return nil
}

// CheckRole fails for a role that there is not.
func CheckRole(role Role) error {
	if _, ok := grants[role]; !ok {
		return &problem.Error{Code: "bad_role", Message: fmt.Sprintf("there is no role %q", role), Hint: fmt.Sprintf("use one of %v", Roles())}
	}
	return nil
}

// checkGrant checks what a credential is to be of.
func checkGrant(role Role, valid time.Duration) error {
	if err := CheckRole(role); err != nil {
		return err
	}
	if valid < 0 {
		return &problem.Error{Code: "bad_duration", Message: fmt.Sprintf("a credential cannot be valid for %v", valid), Hint: "say for how long, such as 12h; 0 = until it is revoked"}
	}
	return nil
}

// mint makes the credential of a user whose public key this is; valid 0 = until it
// is revoked.
func (k *keys) mint(role Role, name, user string, valid time.Duration) (string, error) {
	if err := CheckName(name); err != nil {
		return "", err
	}
	if !nkeys.IsValidPublicUserKey(user) {
		return "", &problem.Error{Code: "bad_key", Message: "that is no public key of a user", Hint: "enroll with 'tenterhook fleet enroll'"}
	}
	if err := checkGrant(role, valid); err != nil {
		return "", err
	}
	g := grants[role]
	signer, err := nkeys.FromSeed(g.signer(k))
	if err != nil {
		return "", err
	}
	claims := jwt.NewUserClaims(user)
	claims.Name = name
	if claims.IssuerAccount, err = public(g.account(k)); err != nil {
		return "", err
	}
	claims.SetScoped(true)
	if valid > 0 {
		claims.Expires = time.Now().Add(valid).Unix()
	}
	return claims.Encode(signer)
}
