package hooktest

import "os"

// systemEnv is what hooks inherit beside PATH: the user's places, and what programs of Windows need to start.
func systemEnv(home, tmp string) []string {
	env := []string{"HOME=" + home, "USERPROFILE=" + home, "LOCALAPPDATA=" + home, "TEMP=" + tmp, "TMP=" + tmp}
	for _, name := range []string{"SYSTEMROOT", "SYSTEMDRIVE", "PROGRAMFILES", "COMSPEC", "PATHEXT"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}
