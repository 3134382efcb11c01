import { beforeEach, expect, test } from 'vitest'
import { addAccount } from '../../../src/processes/add-account.ts'
import { listRelays } from '../../../src/db/reporter-relays.ts'
import { runLearnRelays } from '../../../src/reports/learn-relays.ts'
import { forgetRelay, setRelays } from '../../../src/reports/set-relays.ts'
import { runAnalyzeReport } from '../../../src/reports/analyze-report.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { openTestApp } from '../../support/app.ts'
import { relayedMessage, spamMessage } from '../../support/messages.ts'
import { uuidTime } from '../../../src/world.ts'
import { parser } from '../../support/parser.ts'
import { fakeDns, rsaKey, signed } from '../../support/signing.ts'

const DAY_MS = 86_400_000
let now = Date.now()

// No origin reaches this confidence, so the reporter is asked about every report.
const app = await closeAfterTests(openTestApp({ ORIGIN_CONFIDENCE_MIN: '1' }))

beforeEach(async () => {
  await app.pool.query('delete from reports')
  await app.pool.query('delete from analyses')
  await app.pool.query('delete from report_keys')
  await app.pool.query('delete from reporter_relays')
  await app.pool.query('delete from relay_lessons')
})

/** Creates analyzed reports by ann, one a day up to today. */
async function report(
  count: number,
  make: (number: number) => Buffer | Promise<Buffer>,
  wanted: readonly number[] = [],
): Promise<string[]> {
  const ids: string[] = []
  for (let number = 0; number < count; number++) {
    const kind = wanted.includes(number) ? { kind: 'not-spam' as const } : {}
    const { id } = await app.report(await make(number), kind)
    const at = new Date(now - (count - number) * DAY_MS)
    await app.pool.query('update reports set received_at = $2 where id = $1', [id, at])
    ids.push(id)
  }
  await analyze(ids)
  return ids
}

function analyze(ids: readonly string[]) {
  return runAnalyzeReport(
    ids.map((reportId) => ({ reportId })),
    { ...app, parser, dns },
  )
}

const key = rsaKey()
const keys = Array.from({ length: 12 }, (_, number) => [
  `TXT s1._domainkey.author${number}.example`,
  [key.record],
])
const zone = fakeDns(Object.fromEntries(keys) as Record<string, string[]>)
const dns = { resolve: zone.resolve, listings: () => Promise.resolve([]) }

/** Composes mail through the relay, each from a different machine and author. */
function relayed(number: number): Buffer<ArrayBuffer> {
  const ip = `IPv6:3fff:${number + 1}::7`
  return relayedMessage(`relayed-${number}`, { ip, domain: `author${number}.example` })
}

/** Composes mail through the relay, signed by its author. */
function relayedSigned(number: number): Promise<Buffer> {
  return signed(relayed(number), { domain: `author${number}.example`, key })
}

/** Learns relays. Each run is an hour after the previous one. */
async function learn(limits?: { seen: number; taught: number }): Promise<number> {
  now += 3_600_000
  return runLearnRelays({ ...app, clock: () => new Date(now) }, limits)
}

async function known(): Promise<string[]> {
  return (await listRelays(app.pool, app.ann)).map(({ cidr, how, evidence, name }) =>
    `${cidr} ${how} ${evidence} ${name ?? ''}`.trim(),
  )
}

async function statesOf(ids: readonly string[]): Promise<unknown[]> {
  const rows = await app.rows('select distinct state from reports where id = any($1::uuid[])', [
    ids,
  ])
  return rows.map(({ state }) => state)
}

const relay = '192.0.2.10/32'
const wanted = [3, 4, 5]

test('a relay is learned from reports, and those with a question are analyzed again', async () => {
  const ids = await report(12, relayedSigned, wanted)
  expect(await statesOf(ids)).toEqual(['kept'])
  expect(await learn()).toBe(1)
  expect(await known()).toEqual([`${relay} learned 12 relay.provider.example`])
  const reopened = ids.filter((_, number) => !wanted.includes(number))
  expect(await statesOf(reopened)).toEqual(['received'])
  await analyze(reopened)
  expect(await statesOf(ids)).toEqual(['kept'])
  const origins = await app.rows(
    `select host(origin_ip) as ip from analyses where id = any($1::uuid[]) order by id`,
    [reopened.slice(0, 3)],
  )
  expect(origins.map(({ ip }) => ip)).toEqual(['3fff:1::7', '3fff:2::7', '3fff:3::7'])
})

test('reporters without new reports have no new lesson', async () => {
  await report(2, relayed)
  expect([await learn(), await learn()]).toEqual([1, 0])
  await report(1, (number) => spamMessage(`later-${number}`))
  await app.pool.query(
    `update relay_lessons set
       learned_at = (learned_at at time zone 'UTC' - interval '1 year') at time zone 'UTC'`,
  )
  expect(await learn()).toBe(1)
})

test.for([
  ['no mail was wanted', relayedSigned, []],
  ['wanted mail was not signed', relayed, wanted],
] as const)('if %s, the relay is only proposed', async ([, make, numbers]) => {
  const ids = await report(12, make, numbers)
  await learn()
  expect(await known()).toEqual([`${relay} proposed 12 relay.provider.example`])
  expect(await statesOf(ids)).toEqual(['kept'])
})

test('the reporter’s statement is never overridden', async () => {
  await report(12, relayedSigned, wanted)
  for (const how of ['refused', 'set'] as const) {
    await app.pool.query('delete from relay_lessons')
    await setRelays(app, app.ann, [{ cidr: '192.0.2.0/24', name: null, how }])
    await learn()
    expect(await known()).toEqual([`192.0.2.0/24 ${how} 0`])
    await forgetRelay(app, app.ann, '192.0.2.0/24')
    await app.pool.query(`update reports set state = 'kept'`)
  }
})

test('a learned relay keeps its day, and is forgotten when mail comes another way', async () => {
  await report(12, relayedSigned, wanted)
  await learn()
  const [first] = await listRelays(app.pool, app.ann)
  await app.pool.query('delete from relay_lessons')
  await app.pool.query(`update reports set state = 'kept'`)
  await learn()
  expect(await listRelays(app.pool, app.ann)).toMatchObject([{ since: first?.since }])
  const moved = (number: number) => spamMessage(`moved-${number}`, { ip: `203.0.113.${number}` })
  await report(20, moved)
  await app.pool.query(`update reports set
       received_at = (received_at at time zone 'UTC' - interval '60 days') at time zone 'UTC'
    where author like '%author%'`)
  await app.pool.query('delete from relay_lessons')
  await learn()
  expect(await known()).toEqual([])
})

test('each run takes a limited number of reporters, and the next one continues', async () => {
  const added: string[] = []
  for (const name of ['cy', 'dee', 'eve']) {
    const email = `${name}@reporters.example`
    const account = { email, password: undefined, role: null, wantsToken: false }
    added.push((await addAccount(account, app)).id)
  }
  const reporters = [app.ann, app.bob, ...added].toSorted()
  for (const [number, reporterId] of reporters.entries()) {
    const { id } = await app.report(spamMessage(`turn-${number}`))
    await app.pool.query('update reports set reporter_id = $2 where id = $1', [id, reporterId])
  }
  const taught = async () =>
    (
      await app.rows('select reporter_id as id from relay_lessons order by learned_at, reporter_id')
    ).map(({ id }) => id)
  const runs: number[] = []
  for (let run = 0; run < 4; run++) {
    runs.push(await learn({ seen: 9, taught: 2 }))
    if (run === 0) expect(await taught()).toEqual(reporters.slice(0, 2))
  }
  expect(runs).toEqual([2, 2, 1, 0])
  expect((await taught()).toSorted()).toEqual(reporters)
})

test('reporters without news do not delay the following ones', async () => {
  const [idle = '', busy = ''] = [app.ann, app.bob].toSorted()
  let made = 0
  const reportOf = async (reporterId: string) => {
    const { id } = await app.report(spamMessage(`turn-${made++}`))
    await app.pool.query('update reports set reporter_id = $2 where id = $1', [id, reporterId])
    return uuidTime(id)
  }
  const lesson = await reportOf(idle)
  let latest = lesson
  while (latest <= lesson) latest = await reportOf(busy)
  for (const reporterId of [idle, busy]) {
    const insert = 'insert into relay_lessons (reporter_id, learned_at) values ($1, $2)'
    await app.pool.query(insert, [reporterId, lesson])
  }
  for (let run = 0; run < 2; run++) await learn({ seen: 1, taught: 1 })
  const rows = await app.rows(
    'select reporter_id as id from relay_lessons order by learned_at desc limit 1',
  )
  expect(rows).toEqual([{ id: busy }])
})
