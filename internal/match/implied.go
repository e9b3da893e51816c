package match

import (
	"slices"
	"strings"
	"sync"
)

// implied are files that a program shows a part of although the line does not name
// them: by program, forms as in losing, and the file.
var implied = sync.OnceValue(func() map[string][]impliedFile {
	return map[string][]impliedFile{
		"gpg":  {{"--export-secret", "~/.gnupg/private-keys-v1.d"}},
		"gpg2": {{"--export-secret", "~/.gnupg/private-keys-v1.d"}},
		"aws": {{"configure get", "~/.aws/credentials"}, {"secretsmanager get-secret-value", "~/.aws/credentials"}, {"--with-decryption", "~/.aws/credentials"},
			{"configure export-credentials", "~/.aws/credentials"}, {"sts get-session-token", "~/.aws/credentials"}, {"sts assume-role", "~/.aws/credentials"},
			{"ecr get-login-password", "~/.aws/credentials"}},
		"gh":      {{"auth token", "~/.config/gh/hosts.yml"}, {"auth status --show-token", "~/.config/gh/hosts.yml"}, {"auth status -t", "~/.config/gh/hosts.yml"}},
		"gcloud":  {{"secrets access", "~/.config/gcloud/credentials.db"}, {"print-access-token", "~/.config/gcloud/credentials.db"}, {"print-identity-token", "~/.config/gcloud/credentials.db"}},
		"az":      {{"keyvault show", "~/.azure/msal_token_cache.json"}, {"get-access-token", "~/.azure/msal_token_cache.json"}},
		"kubectl": {{"get secret -o", "~/.kube/config"}, {"get secrets -o", "~/.kube/config"}, {"config view --raw", "~/.kube/config"}},
		"git":     {{"credential fill", "~/.git-credentials"}, {"config http.extraheader", "~/.git-credentials"}},
		"getent":  {{"shadow", "/etc/shadow"}, {"gshadow", "/etc/gshadow"}},
		"heroku":  {{"config", "~/.netrc"}, {"auth:token", "~/.netrc"}},
		"npm":     {{"token", "~/.npmrc"}},
		"op":      {{"get", "~/.config/op/config"}, {"read", "~/.config/op/config"}},
		"bw":      {{"get", "~/.config/op/config"}, {"export", "~/.config/op/config"}},
		"vault":   {{"get", "~/.vault-token"}, {"read", "~/.vault-token"}},
		"vercel":  {{"env pull", ".env"}},
		"pass":    {{"show", "~/.password-store/x"}},
		"security": {{"find-generic-password", "~/Library/Keychains/x"}, {"find-internet-password", "~/Library/Keychains/x"},
			{"dump-keychain", "~/Library/Keychains/x"}, {"export", "~/Library/Keychains/x"}},
		"secret-tool": {{"lookup", "~/.local/share/keyrings/x"}, {"search", "~/.local/share/keyrings/x"}},
	}
})

type impliedFile struct{ form, file string }

// impliedFiles returns the files that a command shows a part of without a name.
func impliedFiles(name string, args []string) (files []string) {
	for _, one := range implied()[name] {
		if hasForm(args, one.form) {
			files = append(files, one.file)
		}
	}
	if name == "npm" && slices.ContainsFunc(args, func(w string) bool { return strings.Contains(w, "_auth") }) {
		files = append(files, "~/.npmrc")
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
		for i, w := range args {
			value := i > 0 && slices.Contains([]string{"-u", "--unset", "-C", "--chdir"}, args[i-1])
			if plain(w) && !value || w == "-i" || w == "-" || w == "--help" || w == "--version" {
				return false
			}
		}
		return true
	case "printenv":
		return !slices.ContainsFunc(args, plain) || slices.ContainsFunc(args, namesSecret)
	case "set":
		return len(args) == 0
	case "get-childitem", "gci", "get-item", "gi", "dir", "ls": // of PowerShell
		return slices.ContainsFunc(args, func(w string) bool { return strings.HasPrefix(strings.ToLower(w), "env:") })
	case "ps": // ps e, ps auxe; -e is something else
		return slices.ContainsFunc(args, func(w string) bool {
			return plain(w) && strings.Trim(w, "abcdefghijklmnopqrstuvwxyz") == "" && strings.Contains(w, "e")
		})
	case "export", "declare", "typeset", "readonly":
		return !slices.ContainsFunc(args, func(w string) bool { return !isOption(w) || !strings.ContainsAny(w, "px") })
	}
	return isLanguage(name) && slices.ContainsFunc(args, dumpsEnvironment)
}

// dumpsEnvironment reports whether code reads all variables, and not one by its name.
func dumpsEnvironment(code string) bool {
	for _, all := range []string{"ENV.to_h", "ENV.each", "ENV.inspect", "p ENV", "puts ENV", "%ENV", "in ENVIRON", "getenv())", "System.getenv()", "env.toObject()", "os.environ.items", "os.environ.copy"} {
		if strings.Contains(code, all) {
			return true
		}
	}
	for _, variable := range []string{"os.environ", "process.env"} {
		if _, rest, ok := strings.Cut(code, variable); ok && (rest == "" || !strings.ContainsAny(rest[:1], ".[abcdefghijklmnopqrstuvwxyz")) {
			return true
		}
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
