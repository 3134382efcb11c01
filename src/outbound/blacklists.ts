import { addressQuestion, domainQuestion } from '../mail/dnsbl.ts'
import type { BlacklistZone, Listing } from '../mail/dnsbl.ts'
import { addressScope, parseIp, type IpAddress } from '../mail/ip.ts'
import { inTime } from './in-time.ts'
import { watchZone } from './watched-zone.ts'
import type { Said, WatchOptions, ZoneState } from './watched-zone.ts'

/** What to ask the lists about; of each, the first ten are asked for. */
export type Subjects = { addresses: readonly string[]; domains: readonly string[] }

/** What a zone says, and of whom. */
export type ZoneFinding = { zone: string; subject: string } & Said

/** Asks the DNS blacklists that the settings name. Nothing here rejects. */
export type Blacklists = {
  /** All listings, in the order of the zones, within three seconds. */
  listings: (subjects: Subjects) => Promise<Listing[]>
  /** Every answer, unknown ones too; the same order and bound. */
  ask: (subjects: Subjects) => Promise<ZoneFinding[]>
  /** Tests all zones now. Resolves when all have passed or failed. */
  test: () => Promise<readonly ZoneState[]>
  states: () => readonly ZoneState[]
}

/** One address or domain, read. */
type Subject = { subject: string; address: IpAddress | undefined }

/** A question to a zone, and what came of it so far. */
type Question = Subject & { name: string; said: Said }

const ASK_MS_MAX = 3_000
const SUBJECTS_MAX = 10

/** Names that never leave their network (RFC 6761, RFC 8375, RFC 7686). */
const privateName = /(?:^|\.)(?:localhost|local|lan|internal|home\.arpa|onion|invalid|test)$/

/**
 * The lists of `zones`, all asked at once. `isAskable` says which addresses they may be asked
 * about: those of the public Internet, unless told otherwise.
 */
export function createBlacklists(
  options: WatchOptions & {
    zones: readonly BlacklistZone[]
    isAskable?: (address: IpAddress) => boolean
  },
): Blacklists {
  const { isAskable = isPublic } = options
  const watched = options.zones.map((zone) => watchZone(zone, options))

  async function ask(given: Subjects): Promise<ZoneFinding[]> {
    const subjects = readSubjects(given, isAskable)
    const asked = watched.map((one) => ({ one, questions: questionsOf(one.zone, subjects) }))
    const all = asked.map(async ({ one, questions }) => {
      if (questions.length === 0) return
      await one.ready()
      await Promise.all(
        questions.map(async (question) => {
          const { name, subject, address } = question
          question.said = await one.ask(name, { subject, family: address?.family })
        }),
      )
    })
    await inTime(Promise.all(all), ASK_MS_MAX, [])
    return asked.flatMap(({ one, questions }) =>
      questions.map(({ subject, said }) => ({ zone: one.zone.zone, subject, ...said })),
    )
  }

  const states = () => watched.map((one) => one.state())
  return {
    ask,
    listings: async (subjects) =>
      (await ask(subjects)).flatMap((finding) => (finding.is === 'listed' ? finding.listings : [])),
    test: async () => {
      await Promise.all(watched.map((one) => one.test()))
      return states()
    },
    states,
  }
}

function isPublic(address: IpAddress): boolean {
  return addressScope(address) === 'public'
}

function readSubjects(
  { addresses, domains }: Subjects,
  isAskable: (address: IpAddress) => boolean,
): Subject[] {
  const read = addresses.map(parseIp).filter((address) => address !== undefined)
  const askable = new Map(read.filter(isAskable).map((address) => [address.text, address]))
  const names = domains.map((domain) => domain.toLowerCase().replace(/\.$/, ''))
  const outward = new Set(names.filter((name) => !privateName.test(name)))
  return [
    ...[...askable].slice(0, SUBJECTS_MAX).map(([subject, address]) => ({ subject, address })),
    ...[...outward].slice(0, SUBJECTS_MAX).map((subject) => ({ subject, address: undefined })),
  ]
}

/** Each name is asked for once: two hosts of one domain are the same to most lists. */
function questionsOf(zone: BlacklistZone, subjects: readonly Subject[]): Question[] {
  const questions = new Map<string, Question>()
  for (const subject of subjects) {
    const name = nameOf(zone, subject)
    if (name === undefined || questions.has(name)) continue
    const said: Said = { is: 'unknown', why: 'The answer took too long.' }
    questions.set(name, { ...subject, name, said })
  }
  return [...questions.values()]
}

function nameOf(zone: BlacklistZone, { subject, address }: Subject): string | undefined {
  if (address) return zone.lists === 'domains' ? undefined : addressQuestion(zone.zone, address)
  return zone.lists === 'addresses' ? undefined : domainQuestion(zone, subject)
}
