#!/bin/sh
# Behaves as the public image of HAProxy does where a compose file relies on it.
set -e

case "${1:-}" in -*) set -- haproxy "$@" ;; esac
if [ "$1" = haproxy ]; then
  shift
  set -- haproxy -W -db "$@"
fi

exec "$@"
