#!/bin/bash
# Imitates the public image of PostgreSQL as far as a compose file relies on it.
set -euo pipefail

case "${1:-}" in -*) set -- postgres "$@" ;; esac
[ "${1:-}" = postgres ] || exec "$@"

if [ "$(id -u)" = 0 ]; then
  mkdir -p "$PGDATA"
  chown -R postgres: "$PGDATA"
  chmod 700 "$PGDATA"
  mkdir -p /run/postgresql && chown postgres: /run/postgresql
  exec setpriv --reuid postgres --regid postgres --init-groups "$0" "$@"
fi

user="${POSTGRES_USER:-postgres}"
database="${POSTGRES_DB:-$user}"

if [ ! -s "$PGDATA/PG_VERSION" ]; then
  if [ -n "${POSTGRES_PASSWORD_FILE:-}" ]; then POSTGRES_PASSWORD="$(<"$POSTGRES_PASSWORD_FILE")"; fi
  if [ -z "${POSTGRES_PASSWORD:-}" ]; then
    echo "Set POSTGRES_PASSWORD_FILE or POSTGRES_PASSWORD to a password for the superuser." >&2
    exit 1
  fi
  initdb -D "$PGDATA" -U "$user" --auth-local=trust --auth-host=scram-sha-256 -E UTF8 --locale=C.UTF-8 \
    --pwfile=<(printf '%s\n' "$POSTGRES_PASSWORD")
  echo "host all all all scram-sha-256" >>"$PGDATA/pg_hba.conf"
  echo "listen_addresses = '*'" >>"$PGDATA/postgresql.conf"
  pg_ctl -D "$PGDATA" -w -o "-c listen_addresses=''" start
  if [ "$database" != postgres ]; then createdb -U "$user" "$database"; fi
  for file in /docker-entrypoint-initdb.d/*; do
    case "$file" in
      *.sql) psql -v ON_ERROR_STOP=1 -U "$user" -d "$database" -f "$file" ;;
      *.sh) . "$file" ;;
    esac
  done
  pg_ctl -D "$PGDATA" -m fast -w stop
fi
unset POSTGRES_PASSWORD

exec "$@"
