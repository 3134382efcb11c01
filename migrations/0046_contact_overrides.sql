-- Contacts that operators set for registrars and platforms.
set local citus.multi_shard_modify_mode to 'sequential';

create table contact_overrides (
  role text not null,
  -- As the registry or `src/phishing/platforms.json` spells it, perhaps in another case.
  name text not null,
  -- Mail addresses, the best first; empty if muted.
  contacts text[] not null,
  -- No notices are sent.
  is_muted boolean not null,
  note text,
  -- Null at the command line.
  set_by uuid,
  set_at timestamptz not null,
  constraint contact_overrides_pkey primary key (role, name),
  constraint contact_overrides_role_known check (role in ('platform', 'registrar')),
  constraint contact_overrides_muted check (is_muted = (cardinality(contacts) = 0))
);
select keep_local('contact_overrides');

-- Whether an operator set the contact.
alter table page_notices add column is_override boolean not null default false;

-- `muted`: an operator decided that no notices are sent.
alter table page_notices drop constraint page_notices_state_known;
alter table page_notices add constraint page_notices_state_known
  check (state in ('spare', 'barred', 'shown', 'muted', 'queued'));
