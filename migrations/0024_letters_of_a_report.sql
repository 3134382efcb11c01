-- How many letters of answers somebody got of late: a desk that answers without end fills no box.
set local citus.multi_shard_modify_mode to 'sequential';

create index letters_answers_idx on letters (reporter_id, id) where kind = 'answer';
