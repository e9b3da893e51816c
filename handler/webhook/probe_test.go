package webhook_test

import (
	"testing"
	"time"
)

// The server sees a connection, and no request.
func TestProbeConnectsAndSendsNothing(t *testing.T) {
	server := serve(t, says(""))
	h := local(t, server.URL+"*")
	if err := h.Probe(t.Context(), posts(server.URL+"/hook")); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(15 * time.Second); server.connections() == 0 && time.Now().Before(end); {
		time.Sleep(time.Millisecond) // the server takes it a moment later
	}
	if server.connections() != 1 || len(server.requests()) != 0 {
		t.Errorf("%d connections and %d requests", server.connections(), len(server.requests()))
	}
	if err := h.Probe(t.Context(), posts("http://not-allowed.example/")); err == nil {
		t.Error("a URL that the settings do not allow is probed")
	}
	server.Close()
	if err := h.Probe(t.Context(), posts(server.URL+"/hook")); err == nil {
		t.Error("a server that is gone is reached")
	}
	unknown := serveTLS(t, says(""))
	if err := local(t, unknown.URL+"*").Probe(t.Context(), posts(unknown.URL+"/hook")); err == nil {
		t.Error("a certificate of an unknown authority is taken")
	}
}
