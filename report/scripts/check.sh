#!/bin/sh
# Everything that is checked about the report page: types, a build with the same bytes as the committed one, logic, and the page in Chromium.
set -eu
cd "$(dirname "$0")/.."

if [ ! -x /usr/bin/chromium ]; then
    if [ "$(id -u)" -ne 0 ]; then
        echo "The page's test needs Chromium: sudo apt-get install -y chromium" >&2
        exit 1
    fi
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null
fi

npm ci --no-audit --no-fund
npm run --silent types

# The page is committed so that cargo alone can embed it: it must be what its sources build to.
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
npm run --silent build -- --outDir "$fresh" --emptyOutDir --logLevel warn
if ! cmp "$fresh/report.html" dist/report.html; then
    echo "dist/report.html is not what the sources build to: run 'npm run build' and commit it" >&2
    exit 1
fi

npm run --silent unit
