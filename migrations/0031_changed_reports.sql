-- A reporter may change what a message is reported as, more than once. Then the same consumer is
-- told of the same report again: complaint, redeemed, complaint. Numbers stay unique, so two
-- transactions that tell of one report at once cannot both commit.
set local citus.multi_shard_modify_mode to 'sequential';

alter table feedback_reports drop constraint feedback_reports_consumer_unique;
