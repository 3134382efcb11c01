import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { operations } from '../../src/cli/sources.ts'
import { chanceFrom } from '../support/chance.ts'
import { checkedMail } from '../support/checked-mail.ts'
import { runCommand } from '../support/command.ts'
import { makeSite, type Site } from '../support/parts.ts'
import { until } from '../support/process.ts'
import { smtpTalk } from '../support/smtp-talk.ts'

const PER_SECOND = 100
const FLOOD_SECONDS = 30
const CLIENTS = 20
const REPORT_EACH_MS = 250

let site: Site
beforeAll(async () => {
  site = await makeSite()
  await Promise.all((['web', 'work', 'receive', 'count'] as const).map((name) => site.start(name)))
  const app = { pool: site.database.pool, clock: () => new Date() }
  const config = { returnPathDomain: 'bounces.test.example', mailFrom: 'a@b.example' }
  const parts = { ...app, config } as Parameters<typeof runCommand>[2]
  const added = await runCommand(operations, ['add', '@trap.example', '--kind', 'trap'], parts)
  expect(added).toMatchObject({ code: 0 })
})
afterAll(() => site.clear())

/** Composes a mail that shares its words with no other, so that it belongs to no campaign. */
function strangeMail(number: number): string {
  const chance = chanceFrom(number)
  const word = () => Math.floor(chance() * 2 ** 32).toString(36)
  const text = Array.from({ length: 300 }, word).join(' ')
  const header = `From: <x@shop.example>\r\nSubject: ${word()}\r\nMessage-ID: <${word()}@x>`
  return `${header}\r\n\r\n${text}\r\n`
}

/** Sends mail to the trap at the wanted rate, over some connections; returns how much was taken. */
async function flood(): Promise<number> {
  const total = PER_SECOND * FLOOD_SECONDS
  const startMs = performance.now()
  let [sent, taken] = [0, 0]
  await Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      const talk = smtpTalk(site.receivePort)
      await talk.hear()
      await talk.say('EHLO flood.example')
      while (sent < total) {
        const number = sent++
        await wait(Math.max(0, startMs + (number * 1_000) / PER_SECOND - performance.now()))
        await talk.say('MAIL FROM:<x@shop.example>')
        await talk.say(`RCPT TO:<old-${number}@trap.example>`)
        await talk.say('DATA')
        const [reply] = await talk.mail(strangeMail(number))
        if (reply?.startsWith('250 ')) taken++
      }
      talk.end()
    }),
  )
  const seconds = (performance.now() - startMs) / 1_000
  console.log(`${(sent / seconds).toFixed(0)} mails a second to the trap, ${taken} taken`)
  return taken
}

/** Reports as a person until the signal. Returns how long each report took to be analyzed. */
async function reportOften(mark: string, signal: AbortSignal): Promise<number[]> {
  const delays: Promise<number>[] = []
  for (let number = 0; !signal.aborted; number++) {
    delays.push(reportOne(`${mark} ${number}`))
    await wait(REPORT_EACH_MS)
  }
  return (await Promise.all(delays)).toSorted((a, b) => a - b)
}

async function reportOne(mark: string): Promise<number> {
  const startMs = performance.now()
  const answer = await fetch(`${site.url}/api/v1/reports`, {
    method: 'POST',
    headers: { authorization: `Bearer ${site.token}`, 'content-type': 'message/rfc822' },
    body: checkedMail(mark.replaceAll(' ', '-'), 'https://good.example/'),
  })
  const { id } = (await answer.json()) as { id: string }
  await until(`the analysis of ${mark}`, async () => {
    const { rows } = await site.database.pool.query(
      `select from reports where id = $1 and state <> 'received'`,
      [id],
    )
    return rows[0]
  })
  return performance.now() - startMs
}

test('a trap flooded with 100 mails a second delays reports by at most a second', async () => {
  const quiet = AbortSignal.timeout(10_000)
  await reportOne('warm')
  const before = await reportOften('before', quiet)
  const flooding = new AbortController()
  const measured = reportOften('during', flooding.signal)
  const taken = await flood()
  flooding.abort()
  const during = await measured
  const shown = (delays: number[]) =>
    `median ${delays[delays.length >> 1]?.toFixed(0)} ms, longest ${delays.at(-1)?.toFixed(0)} ms`
  console.log(`quiet: ${shown(before)}; flooded: ${shown(during)}`)
  expect(taken).toBe(PER_SECOND * FLOOD_SECONDS)
  expect(during.length).toBeGreaterThan(50)
  // A flood that delays reports delays many; one in fifty may be slow by chance.
  const most = during.at(-Math.ceil(during.length / 50))
  expect(most).toBeLessThan((before.at(-1) ?? 0) + 1_000)

  const counted = await until('the counts of the trap', async () => {
    const { rows } = await site.database.pool.query<Record<string, number>>(
      `select received::integer, reported::integer, dropped::integer from mail_source_days`,
    )
    return rows[0]?.['received'] === taken ? rows[0] : undefined
  })
  console.log(counted)
  expect(counted['reported']).toBeGreaterThan(0)
  expect(counted['dropped']).toBeGreaterThan(counted['reported'] ?? 0)
})
