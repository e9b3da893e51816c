package plugins

import (
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
	for message, want := range map[string]hook.Failure{
		"grpc: received message larger than max (67108945 vs. 4194304)": hook.FailureOverflow,
		"grpc: received message larger than max (194 vs. 100)":          hook.FailureTransport,
		"trying to send message larger than max (194 vs. 100)":          hook.FailureTransport,
	} {
		expect(t, h.failed(t.Context(), nil, &hook.Call{}, r, status.Error(codes.ResourceExhausted, message)), want, "")
	}
}
