//go:build !windows

package discovery

import "github.com/adrg/xdg"

// configHome is what holds directories of settings.
func configHome() string { return xdg.ConfigHome }
