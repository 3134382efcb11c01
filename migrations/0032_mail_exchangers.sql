-- The hosts that receive mail for domains of reporters, according to MX records, with the last day
-- on which the records named them: a reported message may be older than a change of the records.
set local citus.multi_shard_modify_mode to 'sequential';
create table mail_exchangers (
  domain text not null,
  -- The name of a host, or an address to which one resolved.
  host text not null,
  named_on date not null,
  constraint mail_exchangers_pkey primary key (domain, host),
  constraint mail_exchangers_length check (length(domain) <= 253 and length(host) <= 253)
);
create index mail_exchangers_named_on on mail_exchangers (named_on);
select keep_local('mail_exchangers');
