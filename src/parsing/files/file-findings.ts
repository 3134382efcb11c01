import { LRUCache } from 'lru-cache'
import type { FileFindings } from '../../pieces/analyze.ts'
import type { ChosenFiles } from './choose-files.ts'
import type { FileFinding } from './read-file.ts'

/** What was found in a file, by its key (`ChosenFile`). */
export type KeyedFinding = readonly [key: string, finding: FileFinding]

/** Findings are kept by the content of the file, so that its next copy costs nothing. */
export type KnownFindings = {
  find: (key: string) => FileFinding | undefined
  /** Keeps a finding, unless the file could not be read for lack of time or room. */
  keep: (keyed: KeyedFinding) => void
}

const KEPT_MS = 600_000
/** Bytes that a finding takes besides its texts. */
const ENTRY_BYTES = 300

/** Creates a memory of findings. `bytesMax` is what they take together. */
export function createKnownFindings(limits: { max: number; bytesMax: number }): KnownFindings {
  const { max, bytesMax: maxSize } = limits
  const known = new LRUCache<string, FileFinding>({
    ...{ max, maxSize, ttl: KEPT_MS, sizeCalculation: sizeOf },
  })
  return {
    find: (key) => known.get(key),
    keep([key, finding]) {
      if (finding.fault !== 'unread') known.set(key, finding)
    },
  }
}

function sizeOf({ links, contents }: FileFinding): number {
  const texts = [...links.flatMap(({ urls, text }) => [text, ...urls]), ...(contents?.names ?? [])]
  const chars = texts.map(({ length }) => length)
  return ENTRY_BYTES + 2 * chars.reduce((sum, length) => sum + length, 0)
}

export function combinedFindings(
  found: readonly FileFinding[],
  faults: ChosenFiles['faults'],
): FileFindings {
  return {
    links: found.flatMap(({ links }) => links),
    contents: found.flatMap(({ contents }) => contents ?? []),
    look: found.find(({ look }) => look !== undefined)?.look,
    faults: [...faults, ...found.flatMap(({ fault }) => fault ?? [])],
  }
}
