import { findWitnesses, upsertWitnesses } from '../../db/campaign-witnesses.ts'
import { findKarmas, type KarmaRow, upsertKarmas } from '../../db/karmas.ts'
import type { Db } from '../../db/pool.ts'
import {
  freshKarma,
  type KarmaEvent,
  withEvent,
  withoutWantedMail,
} from '../../reputation/karma.ts'
import type { Testified } from '../../reputation/packed-evidence.ts'
import { PROVEN_KARMA_MIN } from '../../reputation/source-weight.ts'
import {
  packWitnesses,
  testify,
  unpackWitnesses,
  type Witness,
} from '../../reputation/witnesses.ts'

type Desk = {
  karmas: Map<string, KarmaRow>
  changed: Map<string, KarmaRow>
  witnesses: Map<string, { list: Witness[]; day: string }>
}

/** Settles the karma of reporters by what their reports tell, in the order in which they did. */
export async function foldTestimonies(
  tx: Db,
  testimonies: readonly Testified[],
  now: Date,
): Promise<void> {
  const campaignIds = [...new Set(testimonies.flatMap(({ campaignId }) => campaignId ?? []))]
  const found = await findWitnesses(tx, campaignIds)
  const day = now.toISOString().slice(0, 10)
  const desk: Desk = {
    karmas: new Map(),
    changed: new Map(),
    witnesses: new Map(
      found.map(({ campaignId, content }) => [campaignId, { list: unpackWitnesses(content), day }]),
    ),
  }
  await loadKarmas(tx, desk, testimonies)
  for (const testified of testimonies) hear(desk, testified, day)
  const byKey = <T>([a]: [string, T], [b]: [string, T]) => (a < b ? -1 : 1)
  await upsertWitnesses(
    tx,
    [...desk.witnesses]
      .sort(byKey)
      .map(([campaignId, { list }]) => ({ campaignId, day, content: packWitnesses(list) })),
  )
  await upsertKarmas(
    tx,
    [...desk.changed].sort(byKey).map(([, row]) => row),
    now,
  )
}

/** Of all who speak, and of all who spoke of the same campaigns before. */
async function loadKarmas(tx: Db, desk: Desk, testimonies: readonly Testified[]): Promise<void> {
  const ids = new Set(testimonies.map(({ reporterId }) => reporterId))
  for (const { list } of desk.witnesses.values()) {
    for (const { reporterId, isSettled } of list) if (!isSettled) ids.add(reporterId)
  }
  for (const row of await findKarmas(tx, [...ids])) desk.karmas.set(row.reporterId, row)
}

function hear(desk: Desk, testified: Testified, day: string): void {
  const { reporterId, campaignId, what, karma, at: instant } = testified
  const at = new Date(instant)
  if (what === 'good' || what === 'bad' || what === 'withdrawn') {
    if (campaignId === undefined) return
    const known = desk.witnesses.get(campaignId)
    const isProven = karma >= PROVEN_KARMA_MIN
    const settled = testify(known?.list ?? [], { reporterId, side: what, isProven })
    desk.witnesses.set(campaignId, { list: settled.witnesses, day })
    for (const id of settled.agreed) change(desk, id, 'agreement', at)
    for (const id of settled.contradicted) change(desk, id, 'contradiction', at)
  } else if (what === 'not-wanted-mail') {
    const before = karmaRow(desk, reporterId)
    desk.changed.set(reporterId, { ...withoutWantedMail(before, at), reporterId })
  } else if (what !== 'nothing') change(desk, reporterId, what, at)
}

function change(desk: Desk, reporterId: string, event: KarmaEvent, at: Date): void {
  const before = karmaRow(desk, reporterId)
  desk.changed.set(reporterId, { ...withEvent(before, event, at), reporterId })
}

function karmaRow(desk: Desk, reporterId: string): KarmaRow {
  const known = desk.changed.get(reporterId) ?? desk.karmas.get(reporterId)
  return known ?? { ...freshKarma(false), reporterId }
}
