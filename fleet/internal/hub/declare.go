package hub

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/nats-io/jwt/v2"
)

// Declared is what became of a stream, a bucket or a consumer.
type Declared struct {
	Kind    string   `json:"kind"` // stream, bucket or consumer
	Name    string   `json:"name"`
	State   State    `json:"state"`
	Changes []string `json:"changes"` // the settings that are, or would be, another
}

// State is how what is there compares with what a fleet needs.
type State string

// The states. The ones with "would" in front are of a dry run.
const (
	Present     State = "present"
	Created     State = "created"
	Updated     State = "updated"
	WouldCreate State = "would create"
	WouldUpdate State = "would update"
)

// ErrMissing is what find returns to [Reconcile] for what is not there.
var ErrMissing = errors.New("it is not there")

// Reconcile compares what is there with what a fleet needs, and calls put with what
// is to be there, unless it is there or dry is set. Fields of want that are zero stay
// as they are.
func Reconcile[C any](kind, name string, want C, dry bool, find func() (C, error), put func(C) error) (Declared, error) {
	d := Declared{Kind: kind, Name: name, State: Present, Changes: []string{}}
	have, err := find()
	missing := errors.Is(err, ErrMissing)
	if err != nil && !missing {
		return d, fmt.Errorf("%s %s: %w", kind, name, err)
	}
	if missing {
		d.State, have = Created, want
	} else if d.Changes = overlay(&have, &want); len(d.Changes) > 0 {
		d.State = Updated
	}
	switch {
	case d.State == Present:
		return d, nil
	case dry && missing:
		d.State = WouldCreate
		return d, nil
	case dry:
		d.State = WouldUpdate
		return d, nil
	}
	if err := put(have); err != nil {
		return d, fmt.Errorf("%s %s: %w", kind, name, err)
	}
	return d, nil
}

// overlay sets the fields of a configuration that another has and that differ, and
// returns their names.
func overlay[C any](to, from *C) []string {
	changed := []string{}
	have, want := reflect.ValueOf(to).Elem(), reflect.ValueOf(from).Elem()
	for i := range want.NumField() {
		field := want.Type().Field(i)
		if !field.IsExported() || want.Field(i).IsZero() || reflect.DeepEqual(have.Field(i).Interface(), want.Field(i).Interface()) {
			continue
		}
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		changed = append(changed, fmt.Sprintf("%s: %v, not %v", name, plain(want.Field(i)), plain(have.Field(i))))
		have.Field(i).Set(want.Field(i))
	}
	return changed
}

// plain is what a field holds, as people read it.
func plain(v reflect.Value) any {
	if v.Kind() == reflect.Pointer && !v.IsNil() {
		return v.Elem().Interface()
	}
	return v.Interface()
}

// Permission is what the credential of a role may do.
type Permission struct {
	Role      Role     `json:"role"`
	Publish   []string `json:"publish"`
	Subscribe []string `json:"subscribe"`
	// Services and Streams are what an account imports from the one with the streams;
	// none = the role is of the account with the streams.
	Services []string `json:"services,omitempty"`
	Streams  []string `json:"streams,omitempty"`
}

// Permissions are those of each role. {{name()}} stands for the name of who connects,
// as in the template of a scoped signing key.
func Permissions() []Permission {
	var list []Permission
	for _, role := range Roles() {
		p := Permission{Role: role, Subscribe: grants[role].sub}
		for _, subject := range grants[role].pub {
			p.Publish = append(p.Publish, strings.Replace(subject, workerAPI+".", "$JS.API.", 1))
		}
		for _, passage := range passages[role] {
			switch {
			case role != Machine: // it would need another name for $JS.API there
			case passage.kind == jwt.Service:
				p.Services = append(p.Services, passage.subject)
			default:
				p.Streams = append(p.Streams, passage.subject)
			}
		}
		list = append(list, p)
	}
	return list
}
