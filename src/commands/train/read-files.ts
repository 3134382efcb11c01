import { readdir, readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { analyzeForCounting, type CountedAnalysis } from '../../analysis/analyze.ts'
import { reasonOf, UsageError } from '../../errors.ts'
import { factsOf } from '../../verdict/facts/facts-of.ts'
import { groupCampaigns } from '../../verdict/model/group-campaigns.ts'
import type { RowKind, TrainingRow } from '../../verdict/model/training-row.ts'

/** A folder of messages, one a file, and what all of them are. */
export type LabeledFolder = { folder: string; kind: RowKind }

/** A message of a file, read, whose campaign is not looked for yet. */
export type ReadFile = Pick<TrainingRow, 'at' | 'kind' | 'facts'> &
  Pick<CountedAnalysis, 'fingerprints'> & { file: string }

const FILE_BYTES_MAX = 25_000_000
const TELL_EVERY = 500

/**
 * Reads labeled folders, with those below them, in the order of their names. Files too long for the
 * intake, and those that hold no header, are passed over.
 *
 * @throws UsageError when a folder cannot be read
 */
export async function readFolders(
  folders: readonly LabeledFolder[],
  tell: (line: string) => void,
): Promise<TrainingRow[]> {
  const files: ReadFile[] = []
  for (const { folder, kind } of folders) {
    for (const file of await filesIn(folder)) {
      const read = await readOne(file, kind)
      if (read) files.push(read)
      if (files.length % TELL_EVERY === 0) tell(`Read ${files.length} messages.`)
    }
  }
  const campaigns = groupCampaigns(files.map(({ fingerprints }) => fingerprints))
  return files.map(({ at, kind, facts }, index) => ({
    at,
    kind,
    facts,
    symbols: [],
    campaign: `file ${campaigns[index] ?? index}`,
  }))
}

/** Reads and analyzes one file, asking nobody; undefined when it is no message. */
export async function readOne(file: string, kind: RowKind): Promise<ReadFile | undefined> {
  const { size } = await stat(file)
  if (size === 0 || size > FILE_BYTES_MAX) return undefined
  const raw = await readFile(file)
  const options = { trustedRelays: [], ignoreStamps: true }
  const { analysis, features, fingerprints } = await analyzeForCounting(raw, options)
  if (features.headers.fields === 0) return undefined
  const at = timeOf(analysis)
  return { file, kind, at, facts: factsOf({ features, now: new Date(at) }), fingerprints }
}

/** When it came, as the topmost line that has a time says; else as its author says; else never. */
function timeOf({ hops, headers }: CountedAnalysis['analysis']): number {
  const times = [...hops.map(({ at }) => at), headers.date].flatMap((text) => {
    const time = Date.parse(text ?? '')
    return Number.isNaN(time) ? [] : [time]
  })
  return times[0] ?? 0
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(
    (error: unknown) => {
      throw new UsageError([`The folder ${folder} cannot be read: ${reasonOf(error)}`])
    },
  )
  return entries
    .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
    .map(({ parentPath, name }) => path.join(parentPath, name))
    .sort()
}
