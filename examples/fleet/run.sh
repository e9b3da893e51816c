#!/usr/bin/env bash
# A fleet on one laptop: a hub, a worker and three machines, each with a home directory
# of its own. A pack, a signed policy, a guard that goes on and off, and what each
# machine decided. It needs Go, leaves nothing behind and uses the loopback alone.
#
#     examples/fleet/run.sh              # from a clean checkout
#     KEEP=1 examples/fleet/run.sh       # keep the folder, to look around in it
set -euo pipefail
cd "$(dirname "$0")/../.."
base=$(mktemp -d)
bin=${FLEET_BIN:-$base/bin}
hub=127.0.0.1:${HUB_PORT:-14622} enroll=127.0.0.1:${ENROLL_PORT:-14623}
machines="ada bob ci-1"

running=()
finish() {
  for pid in "${running[@]}"; do kill "$pid" 2> /dev/null || true; done
  wait 2> /dev/null || true
  if [ -n "${KEEP:-}" ]; then echo "kept: $base"; else chmod -R u+w "$base" && rm -rf "$base"; fi # copies of approved hooks are read-only
}
trap finish EXIT
step() { printf '\n== %s\n' "$*"; }

# enter NAME: into the home directory of the machine of that name.
enter() {
  mkdir -p "$base/$1/config/tenterhook" "$base/$1/work"
  cd "$base/$1/work"
  export HOME=$base/$1 XDG_CONFIG_HOME=$base/$1/config XDG_STATE_HOME=$base/$1/state XDG_DATA_HOME=$base/$1/data PATH=$bin:$PATH
}
as() ( # NAME COMMAND…: on that machine
  enter "$1"
  shift
  exec "$@"
)
begin() { # NAME COMMAND…: a service of that machine, until the end
  local name=$1
  shift
  (enter "$name" && exec "$@") > "$base/$name.$2.log" 2>&1 &
  running+=($!)
}
wait_for() { # TEXT COMMAND…: until its output has the text, for a minute at most
  local text=$1 i
  shift
  for ((i = 0; i < 300; i++)); do
    if "$@" 2> /dev/null | grep -qF -- "$text"; then return 0; fi
    sleep 0.2
  done
  echo "not within a minute: '$text' from: $*" >&2
  cat "$base"/*.log >&2
  exit 1
}
decide() { # COMMAND: what each machine says to it
  for m in $machines; do
    printf '%-5s  %-36s ' "$m" "$1"
    as "$m" tenterhook run PreToolUse --tool Bash --input "{\"command\":\"$1\"}" --json > "$base/said" 2> /dev/null || true
    sed -n 's/^  "verdict": "\(.*\)",$/\1/p; s/^  "reason": "\(.*\)",$/       \1/p' "$base/said" | head -2 | paste -s -d ' ' -
  done
}

if [ -z "${FLEET_BIN:-}" ]; then
  step "build"
  go build -o "$bin/" ./cmd/tenterhook ./fleet/cmd/tenterhook-fleet
fi

step "a hub, and keys that never touch it"
begin hub tenterhook-fleet hub --fleet demo --listen "$hub" --enroll-listen "$enroll"
wait_for ada as hub tenterhook fleet hub token --name ada
as hub tenterhook fleet hub credential publisher --role publisher --output "$base/publisher.json"
as hub tenterhook fleet hub credential worker-1 --role worker --output "$base/worker.json"
release=$(as ada tenterhook fleet policy keygen "$base/release" --channel packs | grep '^  ')
oncall=$(as ada tenterhook fleet policy keygen "$base/oncall" --channel guard | grep '^  ')

step "three machines enroll; each believes the two keys, and no network"
for m in $machines worker; do
  as "$m" true
  printf '[fleet]\nname = "demo"\ndir = "%s"\n\n%s\n\n%s\n' "$base/$m/policy" "$release" "$oncall" > "$base/$m/config/tenterhook/settings.toml"
done
for m in $machines; do
  as hub tenterhook fleet hub token --name "$m" --json > "$base/token"
  as "$m" tenterhook fleet enroll "$(sed -n 's/.*"url": "\(.*\)".*/\1/p' "$base/token")" "$(sed -n 's/.*"token": "\(.*\)".*/\1/p' "$base/token")" --name "$m"
  begin "$m" tenterhook-fleet agent
done
decide "git push --force origin main"

step "a pack, and a policy that names its digest, signed with the release key"
as ada tenterhook pack push "$PWD/examples/fleet/pack" "oci:$base/registry/guards:v1" | tail -1 | tee "$base/reference"
printf 'packs = ["%s"]\n' "$(cat "$base/reference")" > "$base/packs.toml"
as ada tenterhook fleet policy sign "$base/packs.toml" --channel packs --key "$base/release.key" --output "$base/packs.policy"
as ada tenterhook fleet policy set "$base/packs.policy" --connection "$base/publisher.json"
for m in $machines; do wait_for "packs: known, version 1" as "$m" tenterhook fleet policy show; done
decide "git push --force origin main"
decide "ls"

step "the guard goes on: an on-call key denies everything, everywhere"
as ada tenterhook fleet guard on --reason "incident 7" --key "$base/oncall.key" --connection "$base/publisher.json"
for m in $machines; do wait_for "guard: known, version 1" as "$m" tenterhook fleet policy show; done
decide "ls"

step "and off again"
as ada tenterhook fleet guard off --reason "incident 7 is over" --key "$base/oncall.key" --connection "$base/publisher.json"
for m in $machines; do wait_for "guard: known, version 2" as "$m" tenterhook fleet policy show; done
decide "ls"

step "a worker reviews what bob's machine did, in the background"
cp "$base/packs.policy" "$base/worker/"
as worker tenterhook fleet policy set --here "$base/packs.policy"
begin worker tenterhook-fleet worker --queue reviews --connection "$base/worker.json"
as bob tenterhook run PostToolUse --tool Bash --input '{"command":"make"}' | grep review
wait_for success as bob tenterhook log --hook plugin/guards/review
as bob tenterhook log --hook plugin/guards/review

step "what the hub knows of all of them"
for m in $machines; do wait_for "$m" as hub tenterhook fleet log; done
as hub tenterhook fleet status --dir "$base/hub/state/tenterhook/hub"
as hub tenterhook fleet log | sed -n 1,12p
