import { parseHeader } from '../../mail/header.ts'
import { parseBody } from '../../mail/message-body.ts'
import { viewBody } from '../../pieces/body-view.ts'
import { spellPieces, TEXT_ROWS, textsOf } from '../../pieces/text-pieces.ts'
import type { ModelReport } from '../../verdict/model/figures.ts'
import { countCampaigns, heaviestRows } from '../../verdict/model/learn-linear.ts'
import type { LinearWeights } from '../../verdict/model/linear.ts'
import type { TrainingRow } from '../../verdict/model/training.ts'

/**
 * Minimum numbers of campaigns and of reporters in whose mail a piece must occur to be shown,
 * because a rare piece may be personal data. Files have no reporters.
 */
const CAMPAIGNS_MIN = 10
const REPORTERS_MIN = 3
const SHOWN_MAX = 40

/**
 * Returns the pieces of text with the largest weights. A model contains only hashes, so messages
 * are read again to find their spelling.
 */
export async function heaviestPieces(
  weights: LinearWeights,
  rows: readonly TrainingRow[],
): Promise<ModelReport['pieces']> {
  const facts = new Uint32Array()
  const campaigns = countCampaigns(
    rows.map(({ text, campaign }) => ({ text, facts, campaign })),
    TEXT_ROWS,
  )
  const reporters = countCampaigns(
    rows.map(({ text, reporterId = 'file' }) => ({ text, facts, campaign: reporterId })),
    TEXT_ROWS,
  )
  const hasReporters = rows.some(({ reporterId }) => reporterId !== undefined)
  const isShown = (row: number) =>
    (campaigns[row] ?? 0) >= CAMPAIGNS_MIN &&
    (!hasReporters || (reporters[row] ?? 0) >= REPORTERS_MIN)
  const heaviest = heaviestRows(weights, isShown, SHOWN_MAX)
  const spelled = await spell(new Set(heaviest.map(({ row }) => row)), rows)
  return heaviest.flatMap(({ row, weight }) => {
    const text = spelled.get(row)
    return text === undefined ? [] : [{ text, weight }]
  })
}

async function spell(
  wanted: ReadonlySet<number>,
  rows: readonly TrainingRow[],
): Promise<Map<number, string>> {
  const spelled = new Map<number, string>()
  for (const { text, load } of rows) {
    if (spelled.size === wanted.size) break
    if (!text.some((row) => wanted.has(row) && !spelled.has(row))) continue
    const raw = await load()
    if (!raw) continue
    const header = parseHeader(raw)
    const body = await parseBody(raw, header)
    for (const [row, piece] of spellPieces(textsOf(header.fields, viewBody(body)), wanted)) {
      if (!spelled.has(row)) spelled.set(row, piece)
    }
  }
  return spelled
}
