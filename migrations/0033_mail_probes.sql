-- The test letters that came back as reports, which showed the way that mail takes to their
-- reporters.
set local citus.multi_shard_modify_mode to 'sequential';
create table mail_probes (
  reporter_id uuid not null,
  letter_id uuid not null,
  report_id uuid not null,
  -- The host that received the letter from our mail server; null if it does not name itself.
  border text,
  -- The number of machines found above it.
  relays integer not null,
  came_at timestamptz not null,
  constraint mail_probes_pkey primary key (reporter_id, letter_id),
  constraint mail_probes_owner_fkey foreign key (reporter_id) references reporters (id)
    on delete cascade,
  constraint mail_probes_border_length check (length(border) <= 253)
);
select distribute('mail_probes', 'reporter_id');

-- Which authors' mail a machine handed over to a reporter, where nothing shows who receives mail
-- for the reporter; with the last day.
create table hand_overs (
  reporter_id uuid not null,
  ip inet not null,
  author_domain text not null,
  seen_on date not null,
  constraint hand_overs_pkey primary key (reporter_id, ip, author_domain),
  constraint hand_overs_owner_fkey foreign key (reporter_id) references reporters (id)
    on delete cascade
);
create index hand_overs_seen_on on hand_overs (seen_on);
select distribute('hand_overs', 'reporter_id');

-- Who denies a machine that another reporter names.
create index reporter_relays_refused_idx on reporter_relays using gist (cidr inet_ops)
  where how = 'refused';

alter table letters drop constraint letters_kind_known;
alter table letters add constraint letters_kind_known check (kind in
  ('advice', 'answer', 'enrollment', 'mail-in', 'account', 'news', 'summary', 'probe'));
