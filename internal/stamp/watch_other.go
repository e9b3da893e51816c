//go:build !linux

package stamp

// Watch does not work here: see [NewWatch].
type Watch struct{}

// NewWatch returns [ErrBlind].
func NewWatch() (*Watch, error) { return nil, ErrBlind }

// Arm returns [ErrBlind].
func (*Watch) Arm(...string) error { return ErrBlind }

// Quiet returns false.
func (*Watch) Quiet() bool { return false }

// Close does nothing.
func (*Watch) Close() {}
