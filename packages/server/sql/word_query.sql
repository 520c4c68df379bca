-- One indexed word as a query.
create or replace function word_query(lexeme text) returns tsquery
  language sql immutable parallel safe
  return ('''' || replace(replace(lexeme, '\', '\\'), '''', '''''') || '''')::tsquery;
