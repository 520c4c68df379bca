-- A histogram of run times: how many of the given buckets, numbered from 1, are each of `bucket_count`.
create or replace function count_durations(buckets int[], bucket_count int) returns int[]
  language plpgsql immutable parallel safe as $$
declare
  counts int[] := array_fill(0, array[bucket_count]);
  bucket int;
begin
  foreach bucket in array buckets loop
    counts[bucket] := counts[bucket] + 1;
  end loop;
  return counts;
end
$$;
