import { expect, test } from 'vitest'
import { findLetter, findLetterMessage, type LetterState } from '../../../src/db/letters.ts'
import { inTransaction } from '../../../src/db/pool.ts'
import { pack, type Packed, unpack } from '../../../src/db/rows.ts'
import { askForReset } from '../../../src/letters/account-letters.ts'
import { openLetter, queueLetter, runSendLetter } from '../../../src/letters/send-letter.ts'
import { maskStoredMail } from '../../../src/feedback/mask-stored-mail.ts'
import { composeLetter } from '../../../src/mail/letter.ts'
import { composeLetterAnswerAddress } from '../../../src/mail/verp.ts'
import { createMailer } from '../../../src/net/mailer.ts'
import { runKeepHouse } from '../../../src/reports/keep-house.ts'
import type { Language } from '../../../src/texts/messages.ts'
import { uuidv7 } from '../../../src/world.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { allLetters } from '../../support/all-letters.ts'
import { openTestApp } from '../../support/app.ts'
import { keysIn } from '../../support/seen-keys.ts'
import { startSmtpSink } from '../../support/smtp-sink.ts'

const app = await closeAfterTests(openTestApp())
const sink = await closeAfterTests(startSmtpSink())
const mailer = await closeAfterTests(createMailer(sink.url))
const { pool, config } = app
const limits = { admit: () => Promise.resolve({ is: 'admitted' }) }
const now = new Date()
const settings = { domain: config.returnPathDomain, secret: config.secret }

async function storedCopy(id: string) {
  const copy = await findLetterMessage(pool, id)
  if (!copy) throw new Error('There is no such letter.')
  return { ...copy, raw: await unpack(copy) }
}

const kinds = (['en', 'fr', 'ru'] as const).flatMap((language) =>
  allLetters(language).map((letter) => [`${letter.name} (${language})`, letter, language] as const),
)

test.for(kinds)(
  'the stored copy is the sent letter without its keys: %s',
  async ([, its, language]) => {
    const { name: _, ...said } = its
    const to = `${uuidv7(now)}@reporters.example`
    const letter = { kind: 'advice', to, language, autoSubmitted: 'generated', ...said } as const
    const unsubscribe = {
      url: 'https://spam.example/letters/off/a-key-of-16-chars',
      key: 'key-of-16-chars',
    }
    const id = await inTransaction(pool, (tx) =>
      queueLetter(tx, { ...letter, unsubscribe, isAnswerable: true }, app, now),
    )
    const replyTo = composeLetterAnswerAddress(id, settings)
    const keys = {
      replyTo: replyTo.slice(-16 - settings.domain.length - 1, -settings.domain.length - 1),
    }
    const needles = Object.fromEntries([...its.keys, unsubscribe.key, keys.replyTo].entries())
    const waiting = await storedCopy(id)
    expect(keysIn(waiting.raw, needles)).toEqual([])
    expect(keysIn(waiting.sealedKeys ?? Buffer.of(), needles)).toEqual([])
    await runSendLetter([{ letterId: id }], { ...app, mailer })
    const mail = sink.messages.find((one) => one.to.includes(to))?.raw ?? Buffer.of()
    expect(keysIn(mail, needles)).toHaveLength(Object.keys(needles).length)
    const sent = await storedCopy(id)
    expect(sent.sealedKeys).toBeNull()
    expect(sent.raw).toHaveLength(mail.length)
    const differing = [...sent.raw.entries()].filter(([at, byte]) => byte !== mail[at])
    expect(new Set(differing.map(([, byte]) => String.fromCharCode(byte)))).toEqual(new Set('*'))
  },
)

async function ask(): Promise<string> {
  await askForReset(
    { address: 'ann@reporters.example', language: 'en' },
    { ...app, limits, publicUrl: config.publicUrl },
  )
  const [row] = await app.rows('select id from letters order by id desc limit 1')
  return String(row?.['id'])
}

test('a letter whose link has expired is not sent, and loses its keys', async () => {
  const id = await ask()
  const later = { ...app, clock: () => new Date(Date.now() + 2 * 3_600_000) }
  await runKeepHouse(later)
  expect((await storedCopy(id)).sealedKeys).toBeNull()
  await runSendLetter([{ letterId: id }], { ...later, mailer })
  expect(await findLetter(pool, id)).toMatchObject({
    state: 'refused',
    reply: 'The link in this letter has expired.',
  })
})

test('a held letter keeps its keys until it is sent', async () => {
  const id = await ask()
  await runSendLetter([{ letterId: id }], { ...app, mailer: undefined })
  expect((await findLetter(pool, id))?.state).toBe('held')
  expect((await storedCopy(id)).sealedKeys).not.toBeNull()
})

test('a process of an earlier version cannot read a masked letter, so it sends none', async () => {
  const id = await ask()
  const { rows } = await pool.query<Packed>('select encoding, content from letters where id = $1', [
    id,
  ])
  await expect(rows[0] && unpack(rows[0])).rejects.toThrow('Unknown frame')
})

const secretLink = 'https://spam.example/account/reset/Zm9vYmFyYmF6cXV4MDEyMzQ1Njc4OTAx'

/** Stores a letter as earlier versions did: with its keys. */
async function storeOld(
  state: LetterState,
  language: Language,
  index: number,
): Promise<[string, Buffer]> {
  const letters = allLetters(language)
  const { subject, text, html } = letters[index % letters.length] ?? {
    subject: '',
    text: '',
    html: '',
  }
  const id = uuidv7(now)
  const raw = composeLetter({
    ...{ from: 'a@spam.example', to: 'b@reporters.example', subject, language, date: now },
    ...{
      text: `${text}\n${secretLink}\n`,
      html: html.replace('</body>', `<a href="${secretLink}">x</a></body>`),
    },
    ...{ messageId: `<letter.${id}@spam.example>`, autoSubmitted: 'generated' },
    replyTo: composeLetterAnswerAddress(id, settings),
    unsubscribe: secretLink,
  })
  const { encoding, content } = await pack(raw)
  await pool.query(
    `insert into letters (id, kind, state, address, created_at, encoding, content)
     values ($1, 'account', $2, 'b@reporters.example', $3, $4, $5)`,
    [id, state, now, encoding, content],
  )
  return [id, raw]
}

const states: readonly LetterState[] = [
  'queued',
  'held',
  'refused',
  'sent',
  'bounced',
  'suppressed',
]

test.for(states)(
  'letters stored before are masked; unsent ones keep their keys: %s',
  async (state) => {
    const stored = await Promise.all(
      (['en', 'fr', 'ru'] as const).flatMap((language) =>
        allLetters(language).map((_, index) => storeOld(state, language, index)),
      ),
    )
    await maskStoredMail(app)
    await maskStoredMail(app)
    for (const [id, raw] of stored) {
      const copy = await storedCopy(id)
      const needles = { link: secretLink.slice(-16), token: 'lqz6ik4o2m7fj3up' }
      expect(keysIn(raw, needles)).toContain('link')
      expect([copy.isMasked, keysIn(copy.raw, needles)]).toEqual([true, []])
      expect(copy.raw).toHaveLength(raw.length)
      const isUnsent = ['queued', 'held', 'refused'].includes(state)
      expect((await openLetter(id, copy, config.secret)).equals(raw)).toBe(isUnsent)
    }
  },
)

test('a damaged copy stays as it is, and stops no other', async () => {
  const stored = [await storeOld('queued', 'en', 0), await storeOld('queued', 'en', 0)]
  const [[damaged], [whole]] = stored as [[string, Buffer], [string, Buffer]]
  const content = Buffer.from('no zstd')
  await pool.query(`update letters set encoding = 'zstd', content = $2 where id = $1`, [
    damaged,
    content,
  ])
  await maskStoredMail(app)
  expect((await storedCopy(whole)).isMasked).toBe(true)
  const left = await findLetterMessage(pool, damaged)
  expect(left?.isMasked).toBe(true)
  expect(left?.content.equals(content)).toBe(true)
})
