-- The sum of two histograms of run times with the same buckets. `added` counts `runs` runs: the rest of it is zero once they are found.
create or replace function add_durations(counts int[], added int[], runs int) returns int[]
  language plpgsql immutable parallel safe as $$
declare
  sums int[] := counts;
  missing int := runs;
  bucket int := 0;
begin
  while missing > 0 loop
    bucket := bucket + 1;
    if added[bucket] <> 0 then
      sums[bucket] := sums[bucket] + added[bucket];
      missing := missing - added[bucket];
    end if;
  end loop;
  return sums;
end
$$;
