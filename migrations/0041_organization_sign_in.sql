-- Sign-in by the organization: accounts linked to people at its OpenID provider.
set local citus.multi_shard_modify_mode to 'sequential';

create table organization_links (
  reporter_id uuid not null,
  -- A person at a provider. The address there is no part of it: it may change or be chosen freely.
  issuer text not null,
  subject text not null,
  linked_at timestamptz not null,
  -- Encrypted; the provider is asked with it whether the role still holds. Null if there is none.
  refresh_token bytea,
  check_at timestamptz not null,
  constraint organization_links_pkey primary key (reporter_id),
  constraint organization_links_person_unique unique (issuer, subject),
  constraint organization_links_reporter_fkey foreign key (reporter_id)
    references reporters (id) on delete cascade
);
select reference('organization_links');

-- Set if the provider gave the role, which holds until then unless the provider confirms it again.
alter table reporters add column role_until timestamptz;
