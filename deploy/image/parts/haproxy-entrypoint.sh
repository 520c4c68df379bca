#!/bin/sh
# Imitates the public image of HAProxy as far as a compose file relies on it.
set -e

case "${1:-}" in -*) set -- haproxy "$@" ;; esac
if [ "$1" = haproxy ]; then
  shift
  set -- haproxy -W -db "$@"
fi

exec "$@"
