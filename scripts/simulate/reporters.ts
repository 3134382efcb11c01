import { readFileSync, rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createReputationReader, readStandings } from '../../src/counting/reputation-reader.ts'
import { ensureCounterPartitions, ensurePartitions } from '../../src/db/partitions.ts'
import type { ReportKind } from '../../src/db/reports.ts'
import { runPublishLists } from '../../src/lists/publish-lists.ts'
import type { Model } from '../../src/verdict/model/model.ts'
import { isUnwantedKind } from '../../src/verdict/model/training.ts'
import { PROVEN_KARMA_MIN } from '../../src/verdict/reputation/detail.ts'
import type { Reputation } from '../../src/verdict/reputation/reputation.ts'
import type { Subject } from '../../src/verdict/reputation/subject.ts'
import type { Sample } from '../quality/read-corpus.ts'
import { signedAnew, testZone } from '../quality/sign-anew.ts'
import { type Kept, openWorld, type World } from '../quality/world.ts'
import { forgeryOf, variantFor } from './mail.ts'
import { makePeople, oneByWeight, oneOf, type Person, type Role } from './people.ts'

export type Play = {
  samples: readonly Sample[]
  /** The model that has not seen a sample; undefined to judge without a model. */
  modelOf: (sample: Sample) => Model | undefined
  people: number
  days: number
  chance: () => number
  tell: (line: string) => void
}

/** The content of a reported message, and the ring whose attack the report is part of. */
type About = 'unwanted' | 'own spam' | 'personal' | 'newsletter' | 'attack'

/** A report of the simulation: its first result, and the last one if a question was answered. */
export type Played = {
  day: number
  role: Role
  kind: ReportKind
  about: About
  file: string
  kept: Kept
  answered?: Kept
}

/** What attackers achieved against a victim at the end of a day. */
type Harm = { day: number; isListed: boolean; isFlagged: boolean; worst: Reputation }

export type Outcome = {
  played: Played[]
  harm: Record<'accusers' | 'climbers', Harm[]>
  /** The number of entries in each list at the end of each day. */
  lists: { day: number; entries: Record<string, number> }[]
  /** Karma at the end of the members with reports, by role. */
  karmas: Map<Role, number[]>
}

/** A campaign in the simulation: it sends its samples for three days. */
type Wave = { members: readonly Sample[]; startsOn: number; size: number; isOfRing: boolean }

type Planned = {
  person: Person
  sample: Sample
  message: Buffer
  /** Whether somebody else wrote it than its header says, so that its signatures are not valid. */
  isForged: boolean
  kind: ReportKind
  about: About
}

const DAY_MS = 86_400_000
const REPORTS_A_DAY = 130
const TICKS_A_DAY = 12
const ATTACKS_A_DAY = 20
const ACQUITTALS_A_DAY = 15
const ACCOMPLICES = 12
const RING_WAVES = 8
const WAVE_SIZE_MAX = 5
/** The shares of its reports that a campaign causes on its first, second and third day. */
const waveDays = [0.6, 0.3, 0.1] as const
/** Days before the end on which the climbers begin to use their karma. */
const CLIMBERS_ATTACK_DAYS = 12

/** How often each role reports unwanted mail, newsletters and personal mail as spam. */
const habits: Record<'honest' | 'careless' | 'lazy', Partial<Record<About, number>>> = {
  honest: { unwanted: 0.97, newsletter: 0.015, personal: 0.015 },
  careless: { unwanted: 0.55, newsletter: 0.4, personal: 0.05 },
  lazy: { unwanted: 0.75, newsletter: 0.15, personal: 0.1 },
}
/** Share of the reports of honest people that say that a message is wanted. */
const PRAISE_SHARE = 0.04
/** Share of reports about phishing that say so, instead of spam. */
const PHISHING_SHARE = 0.8

/** Plays the days of a site with sign-up only. */
export async function playReporters(play: Play): Promise<Outcome> {
  const start = Math.ceil(Date.now() / DAY_MS) * DAY_MS
  let now = start
  const world = await openWorld(() => new Date(now), testZone)
  const listsDir = await mkdtemp(path.join(tmpdir(), 'simulated-lists-'))
  try {
    const people = makePeople(play.people, play.days, play.chance)
    const site = await openSite(world, play)
    const outcome: Outcome = {
      played: [],
      harm: { accusers: [], climbers: [] },
      lists: [],
      karmas: new Map(),
    }
    for (let tick = 0; tick < play.days * TICKS_A_DAY; tick++) {
      const at = tick / TICKS_A_DAY
      const day = Math.floor(at) + 1
      now = start + at * DAY_MS
      await ensurePartitions(world.app.pool, new Date(now), 1)
      await ensureCounterPartitions(world.app.pool, new Date(now), 1)
      await signUp(world, people, at, (ms) => (now = start + ms))
      const planned = planReports(site, people, at, new Date(now), play)
      outcome.played.push(...(await reportAll(world, planned, day, play)))
      await world.settle()
      if ((tick + 1) % TICKS_A_DAY > 0) continue
      const { app } = world
      const manifest = await runPublishLists({ ...app, config: { ...app.config, listsDir } })
      const entries = Object.entries(manifest?.lists ?? {})
      outcome.lists.push({
        day,
        entries: Object.fromEntries(entries.map(([name, one]) => [name, one.entries])),
      })
      for (const ring of ['accusers', 'climbers'] as const) {
        outcome.harm[ring].push(await harmOf(world, site.victims[ring].subjects, day))
      }
      play.tell(`day ${day}: ${outcome.played.length} reports`)
    }
    await readKarma(world, people, outcome)
    return outcome
  } finally {
    rmSync(listsDir, { recursive: true, force: true })
    await world.close()
  }
}

type Victim = { sample: Sample; message: Buffer; subjects: Subject[] }

type Site = {
  waves: Wave[]
  /** Unwanted samples that only one ring has, for its forgeries and for campaigns of its own. */
  invented: Record<'accusers' | 'climbers', Sample[]>
  wanted: Record<'personal' | 'newsletter', Sample[]>
  victims: Record<'accusers' | 'climbers', Victim>
  /** The number of messages received so far. */
  received: number
}

/** Distributes the messages of the corpus over the days. */
async function openSite(world: World, { samples, days, chance }: Play): Promise<Site> {
  const unwanted = samples.filter(({ kind }) => isUnwantedKind(kind))
  const campaigns = [...Map.groupBy(unwanted, ({ campaign }) => campaign).values()]
    .map((members) => ({ members, order: chance() }))
    .sort((a, b) => a.order - b.order)
    .map(({ members }) => members)
  const take = () => campaigns.splice(0, Math.min(days, Math.floor(campaigns.length / 8))).flat()
  const invented = { accusers: take(), climbers: take() }
  const waves = campaigns.map((members, index) => ({
    members,
    startsOn: Math.floor((index * days) / campaigns.length) + 1,
    size: Math.min(WAVE_SIZE_MAX, (1 - chance()) ** -0.8),
    isOfRing: index % Math.floor(campaigns.length / RING_WAVES) === RING_WAVES,
  }))
  const wanted = samples.filter(({ kind }) => !isUnwantedKind(kind))
  const newsletter = wanted.filter(({ kind }) => kind === 'newsletter')
  const [first, second] = await findVictims(world, newsletter)
  return {
    waves,
    invented,
    wanted: { personal: wanted.filter((one) => !newsletter.includes(one)), newsletter },
    victims: { accusers: first, climbers: second },
    received: 0,
  }
}

/** Returns two newsletters whose origins are certain and differ. */
async function findVictims(world: World, samples: readonly Sample[]): Promise<[Victim, Victim]> {
  const judged = await world.judge(samples.map(({ file }) => file))
  const addresses = new Set<string>()
  const victims = samples.flatMap((sample, index): Victim[] => {
    const subjects = judged[index]?.subjects ?? []
    const own = subjects.filter(({ kind }) => victimKinds.has(kind))
    const address = own.find(({ kind }) => kind === 'address')
    if (!address || addresses.has(address.name)) return []
    addresses.add(address.name)
    return [{ sample, message: readFileSync(sample.file), subjects: own }]
  })
  const [first, second] = victims
  if (!first || !second) throw new Error('The corpus needs two newsletters with certain origins.')
  return [first, second]
}

const victimKinds: ReadonlySet<string> = new Set([
  ...['address', 'author', 'author-domain', 'signer', 'return-path-domain'],
  ...['claimed-author', 'claimed-author-domain', 'link-domain', 'link-host'],
])

/** Adds the accounts that exist at a time, each at its own time. */
async function signUp(
  world: World,
  people: readonly Person[],
  at: number,
  setTime: (ms: number) => void,
): Promise<void> {
  for (const person of people) {
    if (person.joinsAt > at) break
    if (person.id !== undefined) continue
    setTime(person.joinsAt * DAY_MS)
    person.id = await world.addReporter(true, person.email)
  }
  setTime(at * DAY_MS)
}

function planReports(
  site: Site,
  people: readonly Person[],
  at: number,
  now: Date,
  { days, chance }: Play,
): Planned[] {
  const day = Math.floor(at) + 1
  const members = Map.groupBy(
    people.filter(({ id }) => id !== undefined),
    ({ role }) => role,
  )
  const others = (['honest', 'careless', 'lazy'] as const).flatMap(
    (role) => members.get(role) ?? [],
  )
  const waves = site.waves.filter(({ startsOn }) => waveDays[day - startsOn] !== undefined)
  const isDue = (perDay: number) => chance() < perDay % 1
  const times = (perDay: number) => {
    const perTick = perDay / TICKS_A_DAY
    return Math.floor(perTick) + (isDue(perTick) ? 1 : 0)
  }
  const planned: Planned[] = []
  const add = (person: Person | undefined, rest: Said & { content?: Buffer }) => {
    if (!person) return
    const { content = readFileSync(rest.sample.file), ...report } = rest
    const minutes = 1 + Math.floor(chance() * 60)
    const sentAt = new Date(now.getTime() - minutes * 60_000)
    const message = variantFor(content, person.email, sentAt, ++site.received)
    planned.push({ person, message, isForged: rest.content !== undefined, ...report })
  }
  for (let count = times(REPORTS_A_DAY); count > 0; count--) {
    const person = oneByWeight(others, ({ activity }) => activity, chance)
    if (person) add(person, usualReport(site, waves, day, person, chance))
  }
  for (const ring of ['accusers', 'climbers'] as const) {
    if (ring === 'climbers' && day <= days - CLIMBERS_ATTACK_DAYS) continue
    const victim = site.victims[ring]
    for (let count = times(ATTACKS_A_DAY); count > 0; count--) {
      const content = readFileSync(oneOf(site.invented[ring], chance).file)
      const forged = { content: forgeryOf(victim.message, content), sample: victim.sample }
      add(oneMaybe(members.get(ring), chance), { ...forged, kind: 'spam', about: 'attack' })
    }
  }
  const own = waves.filter(({ isOfRing }) => isOfRing)
  for (let count = own.length > 0 ? times(ACQUITTALS_A_DAY) : 0; count > 0; count--) {
    const sample = oneOf(oneOf(own, chance).members, chance)
    const person = oneMaybe(members.get('acquitters'), chance)
    add(person, { sample, kind: 'not-spam', about: 'attack' })
  }
  const sample = site.invented.climbers[(day - 1) % site.invented.climbers.length]
  for (let count = sample ? times(ACCOMPLICES) : 0; sample && count > 0; count--) {
    add(oneMaybe(members.get('climbers'), chance), { sample, kind: 'spam', about: 'attack' })
  }
  return planned
}

/** What somebody reports, and as what. */
type Said = Omit<Planned, 'person' | 'message' | 'isForged'>

function oneMaybe(people: readonly Person[] | undefined, chance: () => number) {
  return people && oneOf(people, chance)
}

/** Returns what a person outside the rings reports. */
function usualReport(
  site: Site,
  waves: readonly Wave[],
  day: number,
  { role }: Person,
  chance: () => number,
): Said {
  const habit = Object.entries(habits[role as keyof typeof habits]) as [About, number][]
  const [about = 'unwanted'] = oneByWeight(habit, ([, share]) => share, chance) ?? []
  const weightOf = ({ size, startsOn }: Wave) => size * (waveDays[day - startsOn] ?? 0)
  const wave = oneByWeight(waves, weightOf, chance)
  if (role === 'honest' && chance() < PRAISE_SHARE) {
    const wanted = chance() < 0.5 ? ('newsletter' as const) : ('personal' as const)
    return { sample: oneOf(site.wanted[wanted], chance), kind: 'not-spam', about: wanted }
  }
  if (about === 'personal' || about === 'newsletter' || !wave) {
    const wanted = about === 'personal' ? about : ('newsletter' as const)
    return { sample: oneOf(site.wanted[wanted], chance), kind: 'spam', about: wanted }
  }
  const sample = oneOf(wave.members, chance)
  const isSaid = sample.kind === 'phishing' && chance() < PHISHING_SHARE
  const its = wave.isOfRing ? ('own spam' as const) : ('unwanted' as const)
  return { sample, kind: isSaid ? 'phishing' : 'spam', about: its }
}

async function reportAll(
  world: World,
  planned: readonly Planned[],
  day: number,
  { modelOf }: Play,
): Promise<Played[]> {
  const played: Played[] = []
  for (const [model, some] of Map.groupBy(planned, ({ sample }) => modelOf(sample))) {
    world.use(model)
    const statements = await Promise.all(
      some.map(async ({ person, kind, message, isForged }) => {
        const received = isForged ? message : await signedAnew(message)
        return { reporterId: person.id ?? '', kind, message: received }
      }),
    )
    const mine: Played[] = []
    for (const [index, kept] of (await world.accept(statements)).entries()) {
      const one = some[index]
      if (!one) continue
      const { person, kind, about, sample } = one
      mine.push({ day, role: person.role, kind, about, file: sample.file, kept })
    }
    const take = async (asked: readonly Played[], answer: World['answer']) => {
      const results = await answer(asked.map(({ kept }) => kept.id))
      for (const [index, kept] of results.entries())
        Object.assign(asked[index] ?? {}, { answered: kept })
    }
    const isAsked = (action: string) => (one: Played) => one.kept.action === action
    await take(mine.filter(isAsked('confirm')).filter(isConfirming), world.confirm)
    await take(
      mine.filter(isAsked('ask')).filter(({ role }) => role !== 'lazy'),
      world.answer,
    )
    played.push(...mine)
  }
  return played
}

/**
 * Whether a person who is asked confirms. Honest people notice their mistakes; lazy people do not
 * answer.
 */
function isConfirming({ role, about }: Played): boolean {
  if (role === 'lazy') return false
  return role !== 'honest' || about === 'unwanted' || about === 'own spam'
}

async function harmOf({ app }: World, subjects: readonly Subject[], day: number): Promise<Harm> {
  const known = await createReputationReader(app).read(subjects)
  const worst = known.reduce((a, b) => (a.score <= b.score ? a : b))
  const { rows } = await app.pool.query(
    'select from listings where name = any($1) and listed_until > $2',
    [subjects.map(({ name }) => name), app.clock()],
  )
  const isFlagged = known.some(({ flags }) => flags.includes('listed'))
  return { day, isListed: rows.length > 0, isFlagged, worst }
}

async function readKarma({ app }: World, people: readonly Person[], { karmas }: Outcome) {
  const { rows } = await app.pool.query<{ id: string }>(
    'select distinct reporter_id as id from reports',
  )
  const active = new Set(rows.map(({ id }) => id))
  const ids = [...active]
  const found = await readStandings(app.pool, ids, app.clock())
  for (const { role, id = '' } of people) {
    if (!active.has(id)) continue
    karmas.set(role, [...(karmas.get(role) ?? []), found.get(id)?.karma ?? 0])
  }
}

/** Whether a karma makes a reporter proven. */
export function isProven(karma: number): boolean {
  return karma >= PROVEN_KARMA_MIN
}
