import { readFile } from 'node:fs/promises'
import pg from 'pg'
import { expect, onTestFailed, test } from 'vitest'
import { closeAfterThisTest } from '../support/after-tests.ts'
import { chanceFrom } from '../support/chance.ts'
import { makePlace, type Place, untilRunning } from '../support/instance.ts'
import { spamMessage } from '../support/messages.ts'
import { descendants, isAlive, until } from '../support/process.ts'
import { apiClient, basic, type Client } from '../support/reporter.ts'
import { type SmtpSink, startSmtpSink } from '../support/smtp-sink.ts'

const REPORTS = 320
const AT_ONCE = 16
/** Number of accepted reports between two kills. */
const KILL_EVERY = 40
const PATIENCE_MS = 180_000

type Victim = 'web' | 'work' | 'postgres'
type Accepted = { id: string; raw: Buffer }

test('every accepted report is kept and forwarded once, whatever is killed', async () => {
  const seed = Number(process.env['KILL_SEED'] ?? Date.now() % 1_000_000)
  console.info(`kills: KILL_SEED=${seed}`)
  const chance = chanceFrom(seed)
  const far = await closeAfterThisTest(startSmtpSink())
  const env = { SMTP_URL: far.url, FEEDBACK_HOURLY_MAX: '1000000' }
  const here = await closeAfterThisTest(makePlace(env))
  const program = await untilRunning(here.start())
  onTestFailed(() => console.info(program.said()))
  const client = apiClient(here.url, basic((await here.accounts()).admin))

  const kill = async () => {
    const victim = (['web', 'work', 'postgres'] as const)[Math.floor(chance() * 3)] ?? 'work'
    const pid = await pidOf(victim, program.pid, here)
    // A process that was killed a moment ago may still be listed.
    if (pid !== undefined && isAlive(pid)) process.kill(pid, 'SIGKILL')
  }
  const accepted = await postAll(client, kill)
  await kill()
  expect(accepted).toHaveLength(REPORTS)

  const databaseUrl = await readFile(`${here.dataDir}/database.url`, 'utf8')
  await settle(databaseUrl, accepted.length)
  await until('the API', () => client.get(accepted[0]?.id ?? ''))
  for (const { id, raw } of accepted) {
    const report = await client.get(id)
    expect(report.status).toBe('forwarded')
    expect(report.timeline.map(({ event }) => event)).toEqual(['received', 'analyzed', 'sent'])
    expect((await client.raw(id)).equals(raw)).toBe(true)
  }
  expect(new Set(accepted.map(({ id }) => id)).size).toBe(REPORTS)
  expectEachOnce(far, accepted)
})

/** Posts every message until its report is accepted: a client without an answer retries. */
async function postAll(client: Client, kill: () => Promise<void>): Promise<Accepted[]> {
  const accepted: Accepted[] = []
  let next = 0
  const reporter = async () => {
    while (next < REPORTS) {
      const raw = spamMessage(`load-${next++}`)
      const { id } = await until('a receipt', () => client.post(raw), PATIENCE_MS)
      accepted.push({ id, raw })
      if (accepted.length % KILL_EVERY === 0) await kill()
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, reporter))
  return accepted
}

async function pidOf(victim: Victim, supervisor: number, here: Place): Promise<number | undefined> {
  if (victim === 'postgres') {
    const text = await readFile(here.postmasterFile, 'utf8').catch(() => '')
    const pid = Number(text.split('\n')[0])
    // The supervisor puts its own id there when it restarts a server that was killed.
    return pid === supervisor ? undefined : pid || undefined
  }
  return descendants(supervisor).find(({ command }) => command.endsWith(`main.ts ${victim}`))?.pid
}

/**
 * Waits until every report is finished; jobs that wait for a dead worker or a retry are made due.
 */
async function settle(databaseUrl: string, count: number): Promise<void> {
  // A server that was just killed may still accept a connection, and then lose it.
  await until('what died with its worker', () =>
    asked(
      databaseUrl,
      `update pgboss.job set heartbeat_on = heartbeat_on - interval '1 minute'
       where state = 'active' returning 1 as done`,
    ),
  )
  await until(
    'the end of every report',
    async () => {
      await asked(
        databaseUrl,
        `update pgboss.job set start_after = now()
         where state in ('created', 'retry') and start_after > now() and name = 'forward-report'
           or state = 'retry' and start_after > now()
         returning 1 as done`,
      )
      const [row] = await asked(
        databaseUrl,
        `select count(*)::int as done from feedback_reports where state = 'sent'`,
      )
      return row?.done === count ? true : undefined
    },
    PATIENCE_MS,
  )
}

/** Returns the rows of one statement, over a separate connection. */
async function asked(databaseUrl: string, statement: string): Promise<{ done: number }[]> {
  const client = new pg.Client({ connectionString: databaseUrl })
  client.on('error', () => undefined)
  await client.connect()
  try {
    return (await client.query<{ done: number }>(statement)).rows
  } finally {
    await client.end()
  }
}

/**
 * Checks that the feedback report of every accepted report arrived. After a kill it may arrive
 * twice, but only as an identical mail.
 */
function expectEachOnce(far: SmtpSink, accepted: readonly Accepted[]): void {
  const mails = new Map<string, Set<string>>()
  for (const { from, raw } of far.messages) {
    const text = raw.toString('latin1')
    mails.set(from, (mails.get(from) ?? new Set()).add(text))
  }
  expect(mails.size).toBe(accepted.length)
  expect([...mails.values()].filter((texts) => texts.size > 1)).toEqual([])
  const messageIds = far.messages.map(({ raw }) => /^Message-ID: (\S+)/im.exec(String(raw))?.[1])
  expect(new Set(messageIds).size).toBe(accepted.length)
}
