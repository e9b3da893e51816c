package webhook

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/hook"
)

func TestExplain(t *testing.T) {
	dial := func(err error) error { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }
	for _, test := range []struct {
		err  error
		want string // "" = not known
	}{
		{dial(&net.DNSError{Err: "no such host", Name: "h", IsNotFound: true}), "no such host"},
		{dial(&net.DNSError{Err: "i/o timeout", Name: "h", IsTimeout: true}), "name server"},
		{dial(os.NewSyscallError("connect", syscall.ECONNREFUSED)), "refused"},
		{dial(os.NewSyscallError("connect", syscall.EHOSTUNREACH)), "cannot be reached"},
		{dial(os.NewSyscallError("connect", syscall.ENETUNREACH)), "cannot be reached"},
		{dial(os.ErrDeadlineExceeded), "too long to connect"},
		{dial(os.NewSyscallError("connect", syscall.EACCES)), "permission denied"},
		{dial(errors.New("odd")), "the connection broke"},
		{io.EOF, "closed before"},
		{errors.New("http: server closed idle connection"), "closed before"},
		{fmt.Errorf("net/http: %w", io.ErrUnexpectedEOF), "closed before"},
		{&net.OpError{Op: "read", Err: os.NewSyscallError("read", syscall.ECONNRESET)}, "closed before"},
		{&net.OpError{Op: "write", Err: os.NewSyscallError("write", syscall.EPIPE)}, "closed before"},
		{&tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}, "no trusted authority"},
		{&tls.CertificateVerificationError{Err: x509.HostnameError{Certificate: &x509.Certificate{}, Host: "h"}}, "another name"},
		{&tls.CertificateVerificationError{Err: x509.CertificateInvalidError{Reason: x509.Expired}}, "expired"},
		{&tls.CertificateVerificationError{Err: x509.CertificateInvalidError{Reason: x509.NotAuthorizedToSign}}, "not valid"},
		{&tls.CertificateVerificationError{Err: errors.New("odd")}, "not valid"},
		{tls.RecordHeaderError{Msg: "first record does not look like a TLS handshake"}, "does not speak TLS"},
		{&net.OpError{Op: "remote error", Err: tls.AlertError(40)}, "handshake failure"},
		{errors.New(`malformed HTTP response "hunter2"`), ""},
	} {
		f, known := explain(test.err)
		if known != (test.want != "") || !strings.Contains(f.reason, test.want) || f.hint == "" || strings.Contains(f.reason, "hunter2") {
			t.Errorf("%v: %+v, %v", test.err, f, known)
		}
	}
}

func TestACauseOfThisCallIsPassedOn(t *testing.T) {
	gaveUp := errors.New("gave up")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(gaveUp)
	p := &plan{where: "h:443"}
	for _, err := range []error{p.broken(ctx, io.EOF), p.unread(ctx, io.EOF)} {
		if !errors.Is(err, gaveUp) {
			t.Error(err)
		}
	}
}

// A connection may notice the deadline before the context does.
func TestDeadlineThatTheConnectionNoticesFirstIsATimeout(t *testing.T) {
	for range 20 {
		ctx, cancel := context.WithTimeoutCause(t.Context(), 5*time.Millisecond, hook.ErrTimeout)
		deadline, _ := ctx.Deadline()
		for time.Now().Before(deadline) {
			runtime.Gosched()
		}
		if err := (&plan{}).broken(ctx, os.ErrDeadlineExceeded); !errors.Is(err, hook.ErrTimeout) {
			t.Errorf("got %v", err)
		}
		cancel()
	}
}
