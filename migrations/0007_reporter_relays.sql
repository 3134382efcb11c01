-- The relays of a reporter's mail provider: those the reporter named, those earlier reports taught,
-- and those the reporter said are not theirs, so that nobody asks about or learns them again.
set local citus.multi_shard_modify_mode to 'sequential';

create table reporter_relays (
  reporter_id uuid not null,
  cidr cidr not null,
  how text not null,
  -- As the Received lines name it; for a person to recognize, never to compare.
  name text,
  -- How many reports show it; 0 where the reporter said so.
  evidence integer not null,
  since timestamptz not null,
  constraint reporter_relays_pkey primary key (reporter_id, cidr),
  constraint reporter_relays_owner_fkey foreign key (reporter_id) references reporters (id)
    on delete cascade,
  constraint reporter_relays_how_known check (how in ('set', 'learned', 'proposed', 'refused')),
  constraint reporter_relays_evidence_positive check (evidence >= 0)
);
select distribute('reporter_relays', 'reporter_id');

-- When relays were last looked for in a reporter's reports, so that each has its turn.
create table relay_lessons (
  reporter_id uuid not null,
  learned_at timestamptz not null,
  constraint relay_lessons_pkey primary key (reporter_id),
  constraint relay_lessons_owner_fkey foreign key (reporter_id) references reporters (id)
    on delete cascade
);
select distribute('relay_lessons', 'reporter_id');
