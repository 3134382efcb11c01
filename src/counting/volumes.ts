import { parseIp } from '../mail/ip.ts'
import { shingleHash } from '../pieces/shingles/hash.ts'
import { pairTypes, type PieceName, pieceTypes } from '../pieces/shingles/piece-types.ts'
import type { Subject, SubjectKind } from '../verdict/reputation/subject.ts'
import type { SeenVolume, Volume } from '../verdict/reputation/volume.ts'
import { wholePairKey } from './keys.ts'
import type { CounterReader, Counts, WindowsByPrefix } from './reader.ts'

const pieceOf: Partial<Record<SubjectKind, PieceName>> = {
  address: 'origin-ip',
  network: 'origin-network',
  'autonomous-system': 'origin-as',
}

const pairNumber = (name: string) => pairTypes.find((type) => type.name === name)?.number ?? 0
const [AUTHORS, SIGNERS] = [pairNumber('ip-organizations'), pairNumber('ip-signers')]
const [LISTS, LINE_NAMES] = [pairNumber('ip-lists'), pairNumber('ip-line-names')]
const reporterPairs: Partial<Record<SubjectKind, number>> = {
  address: pairNumber('ip-reporters'),
  network: pairNumber('network-reporters'),
  'autonomous-system': pairNumber('as-reporters'),
}

function pieceKey({ kind, name }: Subject): bigint | undefined {
  const piece = pieceOf[kind]
  return piece && shingleHash(pieceTypes[piece].number, parseIp(name)?.text ?? name)
}

/**
 * Returns the volumes of subjects, in order; undefined for kinds without one. Reads one counter for
 * a subject, and two more for an address.
 */
export async function readVolumes(
  counters: Pick<CounterReader, 'readWindows'>,
  subjects: readonly Subject[],
): Promise<(Volume | undefined)[]> {
  const keys = subjects.map((subject) => {
    const key = pieceKey(subject)
    if (key === undefined || subject.kind !== 'address') return key === undefined ? [] : [key]
    return [key, wholePairKey(AUTHORS, key), wholePairKey(SIGNERS, key)]
  })
  const known = await counters.readWindows(keys.flat())
  let at = 0
  return keys.map(({ length }) => {
    const [mail, authors, signers] = known.slice(at, (at += length))
    return mail && volumeOf(mail, authors ?? {}, signers ?? {})
  })
}

/** Returns the whole volume of a subject, for people; undefined for kinds without one. */
export async function readSeenVolume(
  counters: Pick<CounterReader, 'readWindows'>,
  subject: Subject,
): Promise<SeenVolume | undefined> {
  const key = pieceKey(subject)
  if (key === undefined) return undefined
  const isAddress = subject.kind === 'address'
  const pairs = isAddress ? [AUTHORS, SIGNERS, LISTS, LINE_NAMES] : []
  const numbers = [reporterPairs[subject.kind] ?? 0, ...pairs]
  const keys = [key, ...numbers.map((number) => wholePairKey(number, key))]
  const [mail = {}, reporters = {}, ...more] = await counters.readWindows(keys)
  const [authors = {}, signers = {}, lists = {}, lineNames = {}] = more
  return {
    ...volumeOf(mail, authors, signers),
    reporters: uniquesIn(reporters),
    lists: uniquesIn(lists),
    lineNames: uniquesIn(lineNames),
  }
}

function volumeOf(
  { reports, checks }: WindowsByPrefix,
  authors: WindowsByPrefix,
  signers: WindowsByPrefix,
): Volume {
  const accepted = (checks?.twoWeeks.ham ?? 0) - (checks?.day.ham ?? 0)
  const atLeast0 = (count: number) => Math.max(0, count)
  return {
    quiet: atLeast0(accepted) + atLeast0(reports?.twoWeeks.ham ?? 0),
    complaints: atLeast0(reports?.twoWeeks.complaint ?? 0),
    authors: uniquesIn(authors),
    signers: uniquesIn(signers),
  }
}

function uniquesIn({ reports, checks }: WindowsByPrefix): number {
  const uniques = (counts: Counts | undefined) => Math.max(0, counts?.unique ?? 0)
  return uniques(reports?.twoWeeks) + uniques(checks?.twoWeeks)
}
