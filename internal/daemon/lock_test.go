package daemon

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
)

func TestACallWaitsForTheLockOfAnother(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session.lock")
	unlock, err := lockState(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("it takes too long")
	cancel(why)
	if _, err := lockState(ctx, path); !errors.Is(err, why) {
		t.Fatalf("a second call gets the lock: %v", err)
	}
	unlock()
	unlock, err = lockState(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	unlock()
}
