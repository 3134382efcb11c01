import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** The shared corpus of real mail. It is not part of the repository and may be absent. */
export const corpusFolder = join(import.meta.dirname, '../../../shared/corpus')

/** One message of the corpus. */
export type CorpusFile = { name: string; raw: Buffer }

/** The data that the corpus states about a bounce or a feedback report. */
export type BounceTruth = {
  kind: string
  expected?: { results?: ExpectedResult[] }
  oracle_p5_sisimai_5_1_0?: { recipient: string }[]
  feedback_report?: {
    feedback_fields: [string, string][]
    /**
     * Fields of the message that the report is about, by name, and the number of its Received
     * fields.
     */
    original?: Readonly<Record<string, string | number>>
  }
}

/** The result that the corpus states for one recipient of a bounce. */
type ExpectedResult = {
  deliverystatus: string
  replycode: string
  reason: string
  hardbounce: boolean
}

/** Returns all files in some folders of the corpus; undefined if there is no corpus. */
export function corpusFiles(...folders: readonly string[]): CorpusFile[] | undefined {
  if (!existsSync(corpusFolder)) return undefined
  return folders.flatMap((folder) =>
    readdirSync(join(corpusFolder, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => ({ name, raw: readFileSync(join(parentPath, name)) })),
  )
}

/**
 * Returns the messages of a folder with the corpus's data about them; undefined if there is no
 * corpus.
 */
export function corpusTruths(folder: string): (CorpusFile & { truth: BounceTruth })[] | undefined {
  const manifest = join(corpusFolder, 'MANIFEST.json')
  if (!existsSync(manifest)) return undefined
  const { files } = JSON.parse(readFileSync(manifest, 'utf8')) as {
    files: Record<string, BounceTruth>
  }
  return Object.entries(files)
    .filter(([name]) => name.startsWith(`${folder}/`))
    .map(([name, truth]) => ({ name, truth, raw: readFileSync(join(corpusFolder, name)) }))
}
