-- The sum of two histograms of run times with the same buckets.
create or replace function add_durations(counts int[], added int[]) returns int[]
  language plpgsql immutable parallel safe as $$
declare
  sums int[] := counts;
begin
  for bucket in 1 .. array_length(added, 1) loop
    if added[bucket] <> 0 then sums[bucket] := sums[bucket] + added[bucket]; end if;
  end loop;
  return sums;
end
$$;
