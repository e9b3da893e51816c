//go:build !windows

package hooktest

// systemEnv is what hooks inherit beside PATH: the user's places.
func systemEnv(home, tmp string) []string { return []string{"HOME=" + home, "TMPDIR=" + tmp} }
