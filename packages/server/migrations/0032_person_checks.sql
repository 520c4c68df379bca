-- Whether a person still has the groups is asked again while the session is used, and a refresh token counts once: one node asks at a time.

alter table console_sessions
  -- Until then another node is asking the issuer.
  add column check_claimed_until timestamptz(3);
comment on column console_sessions.sealed_refresh_token is
  'The tokens with which the issuer is asked again, as JSON: a refresh token, or an access token where the issuer gives no other.';
