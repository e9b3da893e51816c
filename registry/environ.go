package registry

import "context"

// environKey is what a context holds the environment of a caller by.
type environKey struct{}

// WithEnv returns a context whose dispatches run hooks in env, a list of
// "key=value", in place of Options.Env. A host that serves several callers gives
// each dispatch the environment of its caller. An empty list is an empty
// environment; nil means Options.Env again. The list must not change while a
// dispatch uses it.
func WithEnv(ctx context.Context, env []string) context.Context {
	return context.WithValue(ctx, environKey{}, env)
}

// envOf returns the environment that WithEnv set, nil = none.
func envOf(ctx context.Context) []string {
	env, _ := ctx.Value(environKey{}).([]string)
	return env
}
