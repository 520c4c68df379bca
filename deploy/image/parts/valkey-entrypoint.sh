#!/bin/sh
# Imitates the public image of Valkey as far as a compose file relies on it.
set -e

case "${1:-}" in -* | *.conf) set -- valkey-server "$@" ;; esac
if [ "$1" = valkey-server ] && [ "$(id -u)" = 0 ]; then
  chown -R valkey: /data
  exec setpriv --reuid valkey --regid valkey --init-groups "$0" "$@"
fi
# The container's network is the boundary, so this is off, as in the public image.
if [ "$1" = valkey-server ]; then set -- "$@" --protected-mode no; fi

exec "$@"
