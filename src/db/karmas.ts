import type { KarmaState } from '../reputation/karma.ts'
import type { Db } from './pool.ts'
import { values } from './values.ts'

/** What is known of a reporter. */
export type KarmaRow = KarmaState & { reporterId: string }

type FlatRow = Omit<KarmaRow, 'counts'> & {
  agreements: number
  retractions: number
  wantedMail: number
  contradictions: number
  overrulings: number
}

/** Of reporters by their ids, in no order; who has done nothing yet may be absent. */
export async function findKarmas(db: Db, reporterIds: readonly string[]): Promise<KarmaRow[]> {
  const { rows } = await db.query<FlatRow>({
    name: 'find-karmas',
    text: `select reporter_id as "reporterId", is_vouched as "isVouched", agreed, disagreed,
        agreements, retractions, wanted_mail as "wantedMail", contradictions, overrulings,
        agreed_on::text as "agreedOn"
      from karmas where reporter_id = any($1::uuid[])`,
    values: [reporterIds],
  })
  return rows.map(
    ({ agreements, retractions, wantedMail, contradictions, overrulings, ...row }) => ({
      ...row,
      counts: {
        agreement: agreements,
        retraction: retractions,
        'wanted-mail': wantedMail,
        contradiction: contradictions,
        overruling: overrulings,
      },
    }),
  )
}

/** Writes what is known of reporters, given in the order of their ids. */
export async function upsertKarmas(tx: Db, rows: readonly KarmaRow[], now: Date): Promise<void> {
  if (rows.length === 0) return
  const { text, params } = values(
    rows.map(({ reporterId, isVouched, agreed, disagreed, counts, agreedOn }) => [
      ...[reporterId, isVouched, agreed, disagreed],
      ...[counts.agreement, counts.retraction, counts['wanted-mail']],
      ...[counts.contradiction, counts.overruling, agreedOn, now],
    ]),
  )
  await tx.query(
    `insert into karmas (reporter_id, is_vouched, agreed, disagreed, agreements, retractions,
       wanted_mail, contradictions, overrulings, agreed_on, updated_at)
     values ${text}
     on conflict (reporter_id) do update set agreed = excluded.agreed,
       disagreed = excluded.disagreed, agreements = excluded.agreements,
       retractions = excluded.retractions, wanted_mail = excluded.wanted_mail,
       contradictions = excluded.contradictions, overrulings = excluded.overrulings,
       agreed_on = excluded.agreed_on, updated_at = excluded.updated_at`,
    params,
  )
}

/** Says whether an operator vouches for an account, when it is made. */
export async function insertKarma(
  tx: Db,
  karma: { reporterId: string; isVouched: boolean; now: Date },
): Promise<void> {
  await tx.query(
    `insert into karmas (reporter_id, is_vouched, updated_at) values ($1, $2, $3)
     on conflict (reporter_id) do nothing`,
    [karma.reporterId, karma.isVouched, karma.now],
  )
}
