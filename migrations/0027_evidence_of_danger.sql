-- How much of the bad evidence is that the messages are phishing or malware: the lists give such
-- names a category of their own.
set local citus.multi_shard_modify_mode to 'sequential';

-- Effective evidence at `folded_at`; null: none. `phishing` includes `malware`.
alter table reputations add column phishing real, add column malware real;
