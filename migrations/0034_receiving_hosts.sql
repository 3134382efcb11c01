-- The hosts that receive mail for domains of reporters, as operators state.
set local citus.multi_shard_modify_mode to 'sequential';
create table receiving_hosts (
  -- The domain of reporters' addresses, in lower case.
  domain text not null,
  -- The name of a host, in lower case, or a CIDR block.
  host text not null,
  note text not null,
  created_at timestamptz not null,
  constraint receiving_hosts_pkey primary key (domain, host),
  constraint receiving_hosts_length check (length(domain) <= 253 and length(host) <= 253)
);
select reference('receiving_hosts');

create index reporters_domain_idx on reporters (split_part(email, '@', -1));
