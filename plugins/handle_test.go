package plugins

import (
	"errors"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	protobuf "google.golang.org/protobuf/proto"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/plugins/proto"
)

func TestTooLongAnswerIsToldFromAnEventThatIsNotTaken(t *testing.T) {
	r := &proto.HandleRequest{Hook: strings.Repeat("x", 191)}
	if size := protobuf.Size(r); size != 194 { // which is in 4194304, too
		t.Fatalf("the request has %d bytes", size)
	}
	h := New(Options{})
	defer h.Close()
	for message, want := range map[string]struct {
		failure      hook.Failure
		reason, hint string
	}{
		"grpc: received message larger than max (67108945 vs. 4194304)": {hook.FailureOverflow, "it answered with more than 4194304 bytes", "answer with little"},
		"grpc: received message larger than max (194 vs. 100)":          {hook.FailureTransport, "it does not take the event, of 194 bytes", "raise the limit of what the plugin receives"},
		"trying to send message larger than max (194 vs. 100)":          {hook.FailureTransport, "it does not take the event, of 194 bytes", "raise the limit of what the plugin receives"},
	} {
		err := h.failed(t.Context(), nil, &hook.Call{}, r, status.Error(codes.ResourceExhausted, message))
		expect(t, err, want.failure, want.reason)
		var failed *hook.Error
		if !errors.As(err, &failed) || failed.Hint != want.hint || status.Code(failed.Err) != codes.ResourceExhausted {
			t.Errorf("%s: %+v, want the hint %q", message, err, want.hint)
		}
	}
}
