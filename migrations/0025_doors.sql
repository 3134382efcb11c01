-- How many letters of answers somebody got of late: a desk that answers without end fills no box.
create index letters_answers_idx on letters (reporter_id, id) where kind = 'answer';
