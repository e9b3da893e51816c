package breaker_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tenterhook/tenterhook/breaker"
)

// Two failures in a row open the breaker; the third call is refused.
func Example() {
	var set breaker.Set
	b := set.Get("project/guard-rm", breaker.Settings{Failures: 2, Cooldown: time.Minute})

	guarded := func(call func() error) error {
		permit, ok := b.Allow()
		if !ok {
			return errors.New("breaker open")
		}
		defer permit.Release() // a panic gives the permit back
		err := call()
		switch {
		case err == nil:
			permit.Done(breaker.Success)
		case errors.Is(err, context.Canceled):
			permit.Done(breaker.Neutral)
		default:
			permit.Done(breaker.Failure)
		}
		return err
	}

	for range 3 {
		fmt.Println(guarded(func() error { return errors.New("exit status 1") }))
	}
	for _, s := range set.Snapshot() {
		fmt.Printf("%s: %v after %d failures\n", s.Name, s.State, s.Failures)
	}
	// Output:
	// exit status 1
	// exit status 1
	// breaker open
	// project/guard-rm: open after 2 failures
}
