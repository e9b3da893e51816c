package mcptool

import (
	"context"

	"github.com/tenterhook/tenterhook/hook"
)

// Prewarm starts the hook's server, so that the first call does not wait for
// that. It returns when the server has shaken hands or failed, or at the end of
// ctx.
func (h *Handler) Prewarm(ctx context.Context, c *hook.Call) error {
	p, err := h.params(c.Hook)
	if err != nil {
		return err
	}
	v, err := h.server(p.server)
	if err != nil {
		return err
	}
	s, err := v.acquire(ctx)
	if err != nil {
		return err
	}
	v.unit.Release(s, false)
	return nil
}
