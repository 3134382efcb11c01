import { insertMonth } from '../../../src/db/month-figures.ts'
import type { Pool } from '../../../src/db/pool.ts'
import type { MonthFigures } from '../../../src/reports/month-figures.ts'

/** Stores the figures of 14 months until October 2026. */
export async function addPublishedMonths(pool: Pool, now: Date): Promise<void> {
  for (let n = 0; n < 14; n++) {
    const month = new Date(Date.UTC(2025, 8 + n)).toISOString().slice(0, 10)
    await insertMonth(pool, { month, figures: figuresOf(1_000 + 137 * n) }, now)
  }
}

function figuresOf(reports: number): MonthFigures {
  const part = (share: number) => Math.round(reports * share)
  const shares = (keys: Record<string, number>) => {
    const shown = Object.entries(keys).map(([key, share]) => ({ key, reports: part(share) }))
    return { shown, rest: reports - shown.reduce((sum, one) => sum + one.reports, 0) }
  }
  return {
    reports,
    kinds: shares({ spam: 0.8, phishing: 0.15 }),
    classes: shares({ spam: 0.6, phishing: 0.2, marketing: 0.1, undecided: 0.06 }),
    outcomes: shares({ kept: 0.5, unanswered: 0.3, resolved: 0.15 }),
    countries: shares({ US: 0.3, FR: 0.2, DE: 0.1, '': 0.2 }),
    networks: [
      {
        ...{ asn: 64_500, name: '=Example <b>Cloud</b>', country: 'US', reports: part(0.25) },
        endedHours: 30.2,
      },
      {
        asn: 64_501,
        name: 'A network with, a rather long name',
        country: 'FR',
        reports: part(0.1),
      },
      { asn: 64_502, name: '', country: 'DE', reports: part(0.05), endedHours: null },
    ],
    medianSeconds: reports > 1_300 ? 95 : null,
  }
}
