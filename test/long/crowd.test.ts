import { expect, test } from 'vitest'
import { insertReporter } from '../../src/db/reporters.ts'
import { insertKarma } from '../../src/db/reputations.ts'
import { createIntake } from '../../src/reports/accept-report.ts'
import { runAnalyzeReport } from '../../src/reports/analyze-report.ts'
import { createJudgeChecked } from '../../src/judging/check-message.ts'
import { readMessage } from '../../src/mail/message.ts'
import { createParserPool } from '../../src/parsing/parser-pool.ts'
import { uuidv7 } from '../../src/world.ts'
import { closeAfterTests } from '../support/after-tests.ts'
import { openTestApp } from '../support/app.ts'
import { rollUpAll } from '../support/counter-rows.ts'
import { foldAll } from '../support/evidence.ts'
import { fakeDns, rsaKey, signed } from '../support/signing.ts'

const app = await closeAfterTests(openTestApp())
const parser = await closeAfterTests(createParserPool(2))

const key = rsaKey()
const { resolve } = fakeDns({
  'TXT s1._domainkey.letters.example': [key.record],
  'TXT letters.example': ['v=spf1 ip4:198.51.100.23 -all'],
  'TXT _dmarc.letters.example': ['v=DMARC1; p=reject'],
})
const dns = { resolve, listings: () => Promise.resolve([]) }

const words = (theme: string) =>
  Array.from({ length: 40 }, (_, at) => `${theme} sentence number ${at} says something.`).join(
    '\r\n',
  )

/** Composes a letter to one of many recipients. */
function message(theme: string, number: number, fields: readonly string[]): Buffer {
  return Buffer.from(
    [
      `Return-Path: <news@letters.example>`,
      'Received: from mail.letters.example (mail.letters.example [198.51.100.23])',
      ` by mx.provider.example (Postfix) with ESMTPS id 4ABC${number}`,
      ` for <reader${number}@provider.example>; Fri, 20 Nov 2026 10:00:00 +0000`,
      `To: reader${number}@provider.example`,
      `Subject: ${theme}`,
      'Date: Fri, 20 Nov 2026 09:59:57 +0000',
      `Message-ID: <${theme}-${number}@letters.example>`,
      'MIME-Version: 1.0',
      'Content-Type: text/plain; charset=utf-8',
      ...fields,
      '',
      words(theme),
      '',
    ].join('\r\n'),
  )
}

async function newsletter(number: number): Promise<Buffer> {
  const raw = message('Gardening', number, [
    'From: "Garden letters" <news@letters.example>',
    'List-Unsubscribe: <https://letters.example/unsubscribe>',
    'List-Unsubscribe-Post: List-Unsubscribe=One-Click',
    'List-Id: <garden.letters.example>',
  ])
  return Buffer.from(await signed(raw, { domain: 'letters.example', key }))
}

function spam(number: number): Promise<Buffer> {
  return Promise.resolve(message('Watches', number, ['From: "Watches" <buy@watches.example>']))
}

/** Creates accounts, vouched for by an operator or not. */
async function accounts(count: number, isVouched: boolean): Promise<string[]> {
  const ids: string[] = []
  for (let number = 0; number < count; number++) {
    const id = uuidv7(new Date())
    const email = `${id}@reporters.example`
    const account = { id, email, passwordHash: null, role: null, createdAt: new Date() }
    await insertReporter(app.pool, account)
    if (isVouched) await insertKarma(app.pool, { reporterId: id, isVouched, now: new Date() })
    ids.push(id)
  }
  return ids
}

/** Lets each account report a separate copy; returns the classes of the verdicts. */
async function reportedBy(
  reporterIds: readonly string[],
  make: (number: number) => Promise<Buffer>,
): Promise<string[]> {
  const intake = createIntake(app)
  const classes: string[] = []
  for (let at = 0; at < reporterIds.length; at += 50) {
    const accepted = await Promise.all(
      reporterIds.slice(at, at + 50).map(async (reporterId, index) =>
        intake.accept({
          reporterId,
          channel: 'api',
          kind: 'spam',
          message: readMessage(await make(at + index)),
          comment: null,
          receivedVia: [],
        }),
      ),
    )
    const payloads = accepted.map(({ id }) => ({ reportId: id }))
    await runAnalyzeReport(payloads, { ...app, parser, dns })
    const rows = await app.rows('select verdict_class from analyses where id = any($1::uuid[])', [
      accepted.map(({ id }) => id),
    ])
    classes.push(...rows.map((row) => String(row['verdict_class'])))
    await rollUpAll(app.pool, new Date())
    await foldAll(app.pool, new Date())
  }
  return classes
}

/** Returns the verdict for a mail server that checks one more copy. */
async function checked(raw: Buffer): Promise<string | undefined> {
  const client = { ip: '198.51.100.23', helo: 'mail.letters.example' }
  const digest = await parser.check(raw, { trustedRelays: [], client })
  const envelope = {
    ...client,
    hostname: undefined,
    returnPath: 'news@letters.example',
    recipients: [],
    user: undefined,
    queueId: undefined,
  }
  return (await createJudgeChecked(app, app.judge)({ digest, envelope }))?.verdict.class
}

const all = (count: number, its: string) => Array.from({ length: count }, () => its)

test('five hundred new accounts that report a newsletter change no verdict', async () => {
  const [reader] = await accounts(1, true)
  if (reader === undefined) throw new Error('There is no reader.')
  const asked = await checked(await newsletter(9_000))
  expect(await reportedBy([reader], () => newsletter(9_001))).toEqual(['marketing'])
  const crowd = await accounts(500, false)
  expect(await reportedBy(crowd, newsletter)).toEqual(all(500, 'marketing'))
  expect(await checked(await newsletter(9_002))).toBe(asked)
  expect(asked).not.toBe('spam')
  expect(await reportedBy([reader], () => newsletter(9_003))).toEqual(['marketing'])
})

test('nor do they make spam of mail without other evidence', async () => {
  const letter = (number: number) => Promise.resolve(message('Notices', number, notice))
  const asked = await checked(await letter(9_000))
  const crowd = await accounts(100, false)
  expect(await reportedBy(crowd, letter)).toEqual(all(100, 'undecided'))
  expect(await checked(await letter(9_001))).toBe(asked)
})

test('twenty proven reporters of real spam do', async () => {
  const [before, after] = await accounts(2, false)
  if (before === undefined || after === undefined) throw new Error('There is no newcomer.')
  expect(await checked(await spam(9_000))).toBe('undecided')
  expect(await reportedBy([before], () => spam(9_001))).toEqual(['undecided'])
  const proven = await accounts(20, true)
  expect(await reportedBy(proven, spam)).toEqual(all(20, 'spam'))
  expect(await reportedBy([after], () => spam(9_002))).toEqual(['spam'])
  expect(await checked(await spam(9_003))).toBe('spam')
})

test('a new account above its daily number is told so, and its reports still count', async () => {
  const [fresh = ''] = await accounts(1, false)
  const several = (count: number) => Array.from({ length: count }, () => fresh)
  expect(await reportedBy(several(25), (number) => spam(8_000 + number))).toEqual(all(25, 'spam'))
  const rows = await app.rows(
    `select state, judgment #>> '{consequence,action}' as action,
       judgment #>> '{consequence,why,0,code}' as why
     from reports join analyses using (id, shard) where reporter_id = $1 order by id`,
    [fresh],
  )
  expect(rows.slice(0, 20).map(({ why }) => why)).not.toContain('reporter-paced')
  const paced = { state: 'kept', action: 'keep', why: 'reporter-paced' }
  expect(rows.slice(20)).toEqual(Array.from({ length: 5 }, () => paced))
  const counted = await app.rows(
    'select from counted_reports join reports using (id, shard) where reporter_id = $1',
    [fresh],
  )
  expect(counted).toHaveLength(25)
})

const notice = ['From: "Notices" <notice@notices.example>']
