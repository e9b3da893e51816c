package match

import "sync"

var (
	// speaks are programs that speak to the network whatever their arguments.
	speaks = wordSet(`ansible ansible-playbook aria2c aws axel az chromium cloudflared curl curlie dhclient dig doggo drill duplicity elinks
		fetch firefox flyctl ftp gcloud gh glab google-chrome gsutil helm heroku host http https httpie kubectl lftp links lynx mail mailx
		mosh msmtp mtr mutt nc ncat net netcat netlify ngrok nmap nslookup pftp ping ping6 rclone rdesktop rsh rlogin s3cmd scp
		sendmail sftp smbclient snap socat ssh ssh-copy-id ssh-keyscan sshfs sshpass svn swaks tailscale tcpdump telnet tftp tnftp traceroute tracepath
		twine autossh croc finger grpcurl iperf3 iwr irm invoke-webrequest invoke-restmethod kafkacat kcat magic-wormhole masscan mosquitto_pub mosquitto_sub nix-env nix-shell openvpn wg-quick wormhole
		ab azcopy bore chisel curlftpfs davfs2 delv fping frpc gobuster hey hping3 httperf hydra kdig ldapmodify nats ncftp nikto nuclei oci plink pscp psftp pssh pdsh rpcinfo rtorrent s3fs s5cmd showmount siege smbget snmpget snmpwalk sqlmap stunnel tcping transmission-cli wrk xfreerdp zerotier-cli ntpdate sntp
		gnutls-cli vault consul nomad salt salt-call puppet chef-client ansible-galaxy ansible-pull avahi-browse sensible-browser chrome chronyd freshclam
		softwareupdate yay paru pikaur firebase supabase arp-scan cpan cpanm cvs tea crane oras k9s stern certbot acme.sh step evans vegeta speedtest speedtest-cli easy_install nmcli chronyc syncthing ipfs juju ztcp
		dbclient sshuttle p4 wakeonlan snmpset ipmitool arping rdate
		claude codex gemini huggingface-cli hf kaggle sentry-cli iwlist mount.cifs mount.nfs lego restish hurl newman artillery locust k6 bombardier oha
		airmon-ng aircrack-ng bettercap tshark dumpcap ettercap dnsenum amass subfinder sublist3r wfuzz ffuf dirb wpscan whatweb metasploit msfconsole
		databricks snowsql bq linode-cli hcloud scw ibmcloud aliyun tccli yc exo civo vultr-cli render railway surge eb sam cdk sls serverless amplify copilot
		start-bitstransfer test-netconnection tnc test-connection resolve-dnsname install-module install-package install-script update-module update-script
		find-module find-package find-script save-module save-package save-script publish-module enter-pssession etsn new-pssession nsn connect-pssession
		send-mailmessage bitsadmin mstsc connect-azaccount connect-mggraph tracert pathping update-help save-help new-smbmapping
		vercel vncviewer w3m websocat wget wget2 whois wrangler wscat xh youtube-dl yt-dlp zmap`)
	// wordsToo are names that are words too: behind an unknown program they
	// say nothing.
	wordsToo = wordSet("fetch host http https links mail net go git snap open az bore chisel fetch finger hey hydra irm nats oci q siege wormhole pkg port pod step hub rush dub code crystal shards swift tea burn render surge copilot eb sam exo yc stern")
	// managers are programs that fetch what they manage, for one of fetches.
	managers = wordSet(`pipenv conda mamba micromamba conda-lock pixi pdm hatch rye cabal stack mix rebar3 sbt lein luarocks opam dart flutter pod swift
		carthage conan vcpkg port meteor ember ng expo eas pre-commit asdf mise rtx nvm fnm pyenv rbenv nodenv jenv sdk volta tfenv tgenv tofuenv
		ghcup corepack puppeteer playwright ollama pulumi nimble raku zef shards crystal dub spack guix emerge xbps-install eopkg
		pkg pkg_add opkg slackpkg winget scoop mas krew helmfile kustomize jsr degit tldr updatedb code codium cursor
		gcloud-components composer-require pear pecl gradle lerna rush jhipster docker-machine multipass lxc incus virt-builder chocolatey`)
	fetches = wordSet(`install create i add update upgrade up fetch pull push publish get sync clone search download deploy login plugin self resolve restore
		require reinstall prepare autoupdate install-hooks dependency:resolve deps deps.update hex.outdated setup use selfupdate --update --install-extension --refresh-dependencies deps.get get-deps hex.info
		bootstrap run-remote pub browsers --tunnel refresh self-update index-update preview`)
	// speaksFor are programs that speak to the network for some subcommands.
	speaksFor = sync.OnceValue(func() map[string]*wordList {
		return map[string]*wordList{
			"apk": wordSet("add update upgrade fetch"), "apt": installs, "apt-get": installs, "aptitude": installs,
			"brew": wordSet("install upgrade update fetch tap reinstall search bundle outdated"), "bun": wordSet("install i add update x create publish upgrade"),
			"bundle": wordSet("install update add"), "bzr": wordSet("push pull branch checkout"),
			"cargo": wordSet("add install update fetch publish search login yank vendor generate-lockfile owner binstall"),
			"choco": wordSet("install upgrade"), "composer": wordSet("install update require create-project global"),
			"dnf": installs, "docker": wordSet("pull push login build buildx run search compose create manifest"), "dotnet": wordSet("restore add publish nuget tool"),
			"flatpak": wordSet("install update"), "gem": wordSet("install update push fetch"),
			"git": wordSet("clone fetch pull push ls-remote submodule send-email request-pull fetch-pack send-pack http-fetch http-push daemon svn p4 lfs sync " +
				"remote-http remote-https remote-ftp remote-ftps imap-send instaweb cvsimport archimport annex review backfill"),
			"go": wordSet("get install"), "hg": wordSet("clone pull push incoming outgoing"), "mc": wordSet("cp mirror mv cat ls mb rm"), "ollama": wordSet("pull push run serve cp create"), "buildah": wordSet("pull push from bud login"), "packer": wordSet("init build"),
			"nix-channel": wordSet("--update --add"), "mvn": wordSet("-U deploy install dependency:resolve dependency:get dependency:go-offline"),
			"npm":   wordSet("install i in ci add update up upgrade publish audit login adduser view info show search outdated exec x create init unpublish dist-tag access ping whoami owner deprecate token org team isntall install-test it rebuild pack-remote"),
			"nuget": wordSet("install restore push"), "openssl": wordSet("s_client s_time ocsp s_server"), "pacman": wordSet("-S -Sy -Syu -Syyu -U"),
			"pip": wordSet("install download search wheel index"), "pipx": wordSet("install run upgrade inject upgrade-all"),
			"pnpm":   wordSet("install i add update up publish dlx audit create fetch outdated"),
			"poetry": wordSet("install add update publish lock self"), "rustup": wordSet("update install toolchain target component self default"),
			"skopeo": wordSet("copy inspect sync"), "terraform": wordSet("init apply plan destroy login get import refresh providers"), "uv": wordSet("add sync pip tool lock publish run python self"),
			"vagrant": wordSet("up box init"), "yarn": wordSet("install add up upgrade publish dlx npm create audit global outdated"), "yum": installs, "zypper": installs,
			"resolvectl": wordSet("query service openpgp tlsa"), "getent": wordSet("hosts ahosts ahostsv4 ahostsv6"), "gpg": wordSet("--receive-keys --recv-keys --send-keys --refresh-keys --search-keys --keyserver --locate-keys --locate-external-keys --fetch-keys"), "gpg2": wordSet("--recv-keys --send-keys --refresh-keys --search-keys --keyserver --fetch-keys"),
			"adb": wordSet("connect"), "certutil": wordSet("-urlcache -verifyctl -ping"), "invoke-command": wordSet("-computername -cn -hostname"), "doctl": wordSet("account compute auth apps databases kubernetes registry projects"),
			"docker-compose": wordSet("pull push build up"), "nix": wordSet("build run shell develop flake profile copy"),
			"sl": wordSet("clone pull push"), "fossil": wordSet("clone sync pull push"), "darcs": wordSet("clone get pull push fetch send"), "jj": wordSet("fetch push clone"),
			"repo": wordSet("init sync download upload"), "gclient": wordSet("sync fetch"), "west": wordSet("init update"), "scalar": wordSet("clone run register"),
			"git-lfs": wordSet("fetch pull push clone locks lock unlock"), "deno": wordSet("add install cache upgrade publish"),
		}
	})
	installs = wordSet("install update upgrade dist-upgrade full-upgrade download source build-dep makecache check-update distro-sync reinstall refresh ref in up dup")
	// languages are interpreters, whose code may open a connection.
	languages = []string{"python", "perl", "ruby", "node", "nodejs", "php", "lua", "deno", "bun", "osascript", "tclsh", "awk", "gawk", "mawk", "cmd", "pwsh", "powershell", "java", "jshell", "groovy", "r", "rscript", "julia", "elixir", "ghci", "swift", "go", "ts-node", "tsx",
		"emacs", "emacsclient", "guile", "racket", "sbcl", "clojure", "bb", "scala", "kotlin", "raku", "octave", "expect", "vim", "nvim"}
	// netCode are parts of code that opens one.
	netCode = []string{"urllib", "requests", "http.client", "httplib", "httpx", "aiohttp", "socket", "fetch(", "axios", "net/http", "lwp", "net::", "open-uri",
		"xmlhttprequest", "smtplib", "ftplib", "http.get", "https.get", "require('http", `require("http`, "'net'", `"net"`, "node:http", "node:net", "'https'", `"https"`, "http.server", "http::tiny", "telnetlib", "paramiko",
		"webclient", "invoke-webrequest", "invoke-restmethod", "iwr ", "irm ", "file_get_contents('http", `file_get_contents("http`, "curl_", "fsockopen", "/inet/", "urlopen", "dgram", "xmlrpc", "nntplib", "poplib", "imaplib", "ssl.", "http.request", "https.request", "tls.connect", "urlretrieve", "pkg.add", "pkg.update", "dns.lookup", "'dns'", `"dns"`, "deno.connect", "deno.listen", "package-refresh-contents", "package-install", "pluginstall", "plugupdate", "lazy! sync", "packersync", "install.packages", "download.file", "url-retrieve"}
	// localSchemes begin addresses of what is here.
	localSchemes = wordSet("file unix sqlite sqlite3 data memory about fd npipe chrome vscode dir oci-archive docker-archive containers-storage env bin")
)

// projectTools are programs that a project has in its own node_modules.
var projectTools = wordSet(`tsc eslint prettier jest vitest mocha ava tap nyc c8 karma webpack vite rollup esbuild parcel babel swc tsx ts-node
	next nuxt astro playwright cypress prisma drizzle-kit stylelint tailwindcss postcss lint-staged nx turbo storybook typedoc knip depcheck madge
	size-limit commitlint changeset rimraf cross-env concurrently nodemon biome oxlint graphql-codegen tsup vue-tsc svelte-check`)
