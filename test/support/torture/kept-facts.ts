import type { Fingerprints } from '../../../src/pieces/fingerprints.ts'
import type { Pool } from '../../../src/db/pool.ts'
import type { ReportEvent } from '../../../src/db/report-events.ts'

/** The final state of a report. */
export type KeptReport = {
  id: string
  reporterId: string
  kind: string
  state: string
  receivedAt: Date
}

/** A campaign at its creation. */
export type KeptCampaign = { id: string; firstReportId: string; fingerprints: Fingerprints }

/** The result of the last analysis of a report. */
export type Judged = { verdict: string; originIp: string | null; confidence: number | null }

/** The final content of the database, except the counters. */
export type KeptFacts = {
  reports: Map<string, KeptReport>
  /** When each report was analyzed, in the order of these times. */
  analyzed: Map<string, Date[]>
  retractedAt: Map<string, Date>
  /** Counted reports with their campaigns. */
  counted: Map<string, string | null>
  /** The verdict on each report and its origin, to compare with how it is counted. */
  judged: Map<string, Judged>
  /** Reports with evidence. */
  evidence: Set<string>
  /** The campaigns, oldest first. */
  campaigns: KeptCampaign[]
  /** The number of reports, by the campaign's id and the day, separated by a blank. */
  campaignDays: Map<string, number>
  /** The payload and the error of each dead letter, as one text. */
  dead: string[]
}

/** Reads the final content of the database. */
export async function readFacts(pool: Pool): Promise<KeptFacts> {
  const reports = await pool.query<KeptReport>(
    `select id, reporter_id as "reporterId", kind, state, received_at as "receivedAt"
     from reports`,
  )
  const events = await pool.query<Pick<ReportEvent, 'reportId' | 'at' | 'event'>>(
    `select report_id as "reportId", at, event from report_events
     where event in ('analyzed', 'retracted') order by at`,
  )
  const counted = await pool.query<{ id: string; campaignId: string | null }>(
    `select id, campaign_id as "campaignId" from counted_reports`,
  )
  const judged = await pool.query<Judged & { id: string }>(
    `select id, verdict_class as verdict, host(origin_ip) as "originIp",
       origin_confidence as confidence from analyses`,
  )
  const evidence = await pool.query<{ id: string }>(`select id from reported_evidence`)
  const campaigns = await pool.query<KeptCampaign>(
    `select id, first_report_id as "firstReportId", fingerprints from campaigns order by id`,
  )
  const days = await pool.query<{ place: string; reports: number }>(
    `select campaign_id::text || ' ' || day::text as place, reports
     from campaign_days where reports <> 0`,
  )
  const dead = await pool.query<{ reason: string }>(
    `select data::text || ': ' || coalesce(output::text, '') as reason
     from pgboss.job where name = 'dead-letter'`,
  )
  const analyzed = events.rows.filter(({ event }) => event === 'analyzed')
  const retracted = events.rows.filter(({ event }) => event === 'retracted')
  return {
    reports: new Map(reports.rows.map((one) => [one.id, one])),
    analyzed: new Map(
      [...Map.groupBy(analyzed, ({ reportId }) => reportId)].map(([id, several]) => [
        id,
        several.map(({ at }) => at),
      ]),
    ),
    retractedAt: new Map(retracted.map(({ reportId, at }) => [reportId, at])),
    counted: new Map(counted.rows.map(({ id, campaignId }) => [id, campaignId])),
    judged: new Map(judged.rows.map((one) => [one.id, one])),
    evidence: new Set(evidence.rows.map(({ id }) => id)),
    campaigns: campaigns.rows,
    campaignDays: new Map(days.rows.map(({ place, reports: count }) => [place, count])),
    dead: dead.rows.map(({ reason }) => reason),
  }
}
