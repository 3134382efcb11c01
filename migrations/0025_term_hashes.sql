-- Returns the hashes of terms, given one per line (`report_terms`).
set local citus.multi_shard_modify_mode to 'sequential';

create function term_hashes(terms text) returns bigint[] language sql immutable parallel safe
  return array(
    select distinct hashtextextended(term, 0) from string_to_table(terms, E'\n') as term);
