-- Several sources may know an address: imported tables, answers of registries, and what an
-- administrator says. Each keeps its own rows, and readers put the layers together.
set local citus.multi_shard_modify_mode to 'sequential';

-- All abuse addresses, the best first; `abuse` stays the first of them.
alter table networks add column contacts text[] not null default '{}';
-- Null does not expire.
alter table networks add column expires_at timestamptz;
-- Nobody is to be written to for this block, whatever other sources say.
alter table networks add column is_muted boolean not null default false;
update networks set contacts = array[abuse] where abuse is not null;
alter table networks add constraint networks_abuse_is_first_contact
  check (abuse is not distinct from contacts[1]);
alter table networks add constraint networks_muted_by_hand
  check (not is_muted or (source = 'manual' and abuse is null));

-- Finds all blocks around an address by one probe. Being a radix tree, it does not get worse when
-- rows come one by one, as a GiST index did; equality would need 33 or 129 candidates.
create index networks_cidr_idx on networks using spgist (cidr);
create index networks_manual_idx on networks (cidr) where source = 'manual';
create index networks_expiry_idx on networks (expires_at) where expires_at is not null;

-- Null: it was done at the command line.
alter table audit_log alter column reporter_id drop not null;
