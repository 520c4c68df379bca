-- Partitions are maintained one table at a time, so the server has to know which tables there are.
drop function if exists maintain_partitions(int, int);
grant select on partitioned_tables to perch_app;
