package trust_test

import (
	"os"
	"testing"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/trust"
)

func TestNamedFileThatIsTooLargeIsNotLeftOut(t *testing.T) {
	w, store := newWorkspace(t), trust.Memory()
	w.write("/check.sh", "exit 2\n", 0o644)
	s := w.subject()
	program := hook.Program{Files: []string{w.path("/check.sh")}}
	approve(t, store, seal(t, s.With(program)))
	g := trust.NewGuard(s, store)
	check := func() trust.Verdict { return g.Check(func() hook.Program { return program }) }
	if v := check(); !v.Approved {
		t.Fatal(v.Why)
	}
	must(t, os.Truncate(w.path("/check.sh"), trust.MaxBytes+1))
	if v := check(); v.Approved || v.Hint == "" {
		t.Errorf("%+v", v)
	}
	if _, err := s.With(program).Seal(); code(t, err) != trust.CodeTooLarge {
		t.Errorf("%v", err)
	}
}

func TestUnboundIsApprovedOnlyAsSuch(t *testing.T) {
	w, store := newWorkspace(t), trust.Memory()
	s := w.subject()
	unbound := func() hook.Program { return hook.Program{Unbound: "it is put together"} }
	bound := func() hook.Program { return hook.Program{} }
	sealed := seal(t, s.With(unbound()))
	if err := store.Approve(sealed); code(t, err) != trust.CodeUnbound {
		t.Fatalf("%v", err)
	}
	if err := store.Approve(newWorkspace(t).seal(), sealed); code(t, err) != trust.CodeUnbound || len(list(t, store)) != 0 {
		t.Fatalf("among others: %v", err)
	}
	g := trust.NewGuard(s, store)
	if v := g.Check(unbound); v.Approved {
		t.Fatal("it was approved")
	}
	approve(t, store, seal(t, s))
	if v := g.Check(unbound); v.Approved || v.Unbound() != "" || len(v.Changes) != 1 || v.Changes[0].Kind != trust.ChangeUnbound {
		t.Errorf("a bound approval let it run: %+v", v)
	}
	w.write("/tool.sh", "", 0o755)
	must(t, store.ApproveUnbound(seal(t, s.With(hook.Program{Unbound: "it is put together", Files: []string{w.path("/tool.sh")}}))))
	if as := list(t, store); len(as) != 1 || !as[0].Unbound || as[0].Files != nil || len(as[0].Folder) != 2 {
		t.Errorf("it binds %+v", as)
	}
	if v := g.Check(unbound); !v.Approved || v.Unbound() != "it is put together" {
		t.Errorf("%+v", v)
	}
	if v := g.Check(bound); !v.Approved || v.Unbound() == "" {
		t.Errorf("it is shown for as long as it holds: %+v", v)
	}
	w.write("run.sh", "#!/bin/sh\necho new\n", 0o755)
	if v := g.Check(unbound); v.Approved {
		t.Error("the hook's folder is not bound")
	}
}
