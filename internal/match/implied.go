package match

import (
	"slices"
	"strings"
)

// implied are files that a program shows a part of although the line does not name
// them: by program, forms as in losing, and the file.
var implied = map[string][]struct{ form, file string }{
	"gpg":     {{"--export-secret", "~/.gnupg/private-keys-v1.d"}},
	"gpg2":    {{"--export-secret", "~/.gnupg/private-keys-v1.d"}},
	"aws":     {{"configure get", "~/.aws/credentials"}, {"configure export-credentials", "~/.aws/credentials"}},
	"gh":      {{"auth token", "~/.config/gh/hosts.yml"}, {"auth status --show-token", "~/.config/gh/hosts.yml"}, {"auth status -t", "~/.config/gh/hosts.yml"}},
	"gcloud":  {{"print-access-token", "~/.config/gcloud/credentials.db"}, {"print-identity-token", "~/.config/gcloud/credentials.db"}},
	"az":      {{"get-access-token", "~/.azure/msal_token_cache.json"}},
	"kubectl": {{"config view --raw", "~/.kube/config"}},
	"git":     {{"credential fill", "~/.git-credentials"}},
	"pass":    {{"show", "~/.password-store/x"}},
	"security": {{"find-generic-password", "~/Library/Keychains/x"}, {"find-internet-password", "~/Library/Keychains/x"},
		{"dump-keychain", "~/Library/Keychains/x"}, {"export", "~/Library/Keychains/x"}},
	"secret-tool": {{"lookup", "~/.local/share/keyrings/x"}, {"search", "~/.local/share/keyrings/x"}},
}

// impliedFiles returns the files that a command shows a part of without a name.
func impliedFiles(name string, args []string) (files []string) {
	for _, one := range implied[name] {
		if hasForm(args, one.form) {
			files = append(files, one.file)
		}
	}
	if showsEnvironment(name, args) {
		files = append(files, "/proc/self/environ")
	}
	return files
}

// showsEnvironment reports whether a command shows all variables, or one whose name
// says that it is secret.
func showsEnvironment(name string, args []string) bool {
	plain := func(w string) bool { return !isOption(w) && !strings.Contains(w, "=") }
	switch name {
	case "env":
		return !slices.ContainsFunc(args, func(w string) bool { return plain(w) || w == "-i" || w == "-" || w == "--help" || w == "--version" })
	case "printenv":
		return !slices.ContainsFunc(args, plain) || slices.ContainsFunc(args, namesSecret)
	case "set":
		return len(args) == 0
	case "export", "declare", "typeset", "readonly":
		return !slices.ContainsFunc(args, func(w string) bool { return !isOption(w) || !strings.ContainsAny(w, "px") })
	}
	return false
}

// namesSecret recognises names like AWS_SECRET_ACCESS_KEY.
func namesSecret(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{"secret", "token", "passw", "api_key", "apikey", "private", "credential", "access_key"}, func(part string) bool {
		return strings.Contains(name, part)
	})
}
