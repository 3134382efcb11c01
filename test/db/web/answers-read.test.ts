import { simpleParser } from 'mailparser'
import { beforeEach, expect, test } from 'vitest'
import { findLetterMessage, listLettersOf } from '../../../src/db/letters.ts'
import { unpack } from '../../../src/db/rows.ts'
import { uuidv7 } from '../../../src/world.ts'
import { Browser, signedInBrowser } from './browser.ts'
import { startNotifyingSite } from './notifying-site.ts'

let desk: Browser

const { site, ann, told, linkOf, rows, eventsOf, forget } = await startNotifyingSite()

beforeEach(async () => {
  desk = new Browser(site.url)
  await forget()
})

test('the reporter sees the answer in both languages, and its words as text', async () => {
  const feedback = await told()
  await desk.post(linkOf(feedback, 'resolved'), { said: '<script>alert(1)</script> \u202eclosed' })
  const path = `/reports/${feedback.reportId}`
  const english = await (await (await signedInBrowser(site.url, ann)).get(path)).text()
  expect(english).toContain('Answer from access-two.example:')
  expect(english).toContain('the problem is resolved')
  expect(english).toContain('&lt;script&gt;alert(1)&lt;/script&gt; ‹U+202E›closed')
  const french = await (await (await signedInBrowser(site.url, ann, 'fr')).get(path)).text()
  expect(french).toContain('Réponse de access-two.example\u00a0:')
  expect(french).toContain('Le service prévenu indique que le problème est résolu')
})

test('reporters of the same campaign see the answer, but not its words', async () => {
  const [feedback, other] = [await told(), await told()]
  const { pool } = site.app
  await pool.query('update feedback_reports set incidents = 2 where report_id = $1', [
    feedback.reportId,
  ])
  await pool.query(
    `update feedback_reports set state = 'merged', merged_into = $2, merged_number = 1
     where report_id = $1`,
    [other.reportId, feedback.reportId],
  )
  await desk.post(linkOf(feedback, 'resolved'), { said: 'to the first' })
  expect(await eventsOf(other)).toEqual(['desk-resolved'])
  const browser = await signedInBrowser(site.url, ann)
  const page = await (await browser.get(`/reports/${other.reportId}`)).text()
  expect(page).toContain('Answer from access-two.example:')
  expect(page).not.toContain('to the first')
})

test('answers are mailed to reporters who ask for it, once, without the words', async () => {
  const { pool } = site.app
  await pool.query(`update reporters set wants_answers = true, language = 'fr' where id = $1`, [
    ann.id,
  ])
  try {
    const feedback = await told()
    await desk.post(linkOf(feedback, 'resolved'), { said: 'a secret word' })
    await desk.post(linkOf(feedback, 'resolved'), {})
    const letters = await listLettersOf(pool, feedback.reportId)
    expect(letters).toMatchObject([{ kind: 'answer', address: 'ann@reporters.example' }])
    const copy = await findLetterMessage(pool, letters[0]?.id ?? '')
    const letter = await simpleParser(copy ? await unpack(copy) : '')
    expect(letter.subject).toBe('Une réponse à votre signalement')
    expect(letter.text).toContain('access-two.example')
    expect(letter.text).toContain('le problème est résolu')
    expect(letter.text).toContain(`/reports/${feedback.reportId}`)
    expect(letter.text).not.toContain('secret word')
  } finally {
    await pool.query('update reporters set wants_answers = false where id = $1', [ann.id])
  }
})

test('a desk that answers endlessly causes at most twenty mails a day to a reporter', async () => {
  const { pool } = site.app
  await pool.query('update reporters set wants_answers = true where id = $1', [ann.id])
  await pool.query('delete from letters')
  try {
    const [sample, merged] = [await told(), await told()]
    await pool.query('update feedback_reports set incidents = 2 where report_id = $1', [
      sample.reportId,
    ])
    await pool.query(
      `update feedback_reports set state = 'merged', merged_into = $2, merged_number = $3
       where report_id = $1`,
      [merged.reportId, sample.reportId, sample.number],
    )
    await desk.post(linkOf(sample, 'resolved'), {})
    const count = async () =>
      (await rows(`select id from letters where reporter_id = $1`, [ann.id])).length
    expect(await count()).toBe(1)
    const columns = 'kind, state, address, reporter_id, created_at, encoding, content'
    const [letter] = await rows(`select ${columns} from letters limit 1`, [])
    const copy = `insert into letters (id, ${columns}) values ($1, $2, $3, $4, $5, $6, $7, $8)`
    while ((await count()) < 20) {
      await pool.query(copy, [uuidv7(new Date()), ...Object.values(letter ?? {})])
    }
    await desk.post(linkOf(sample, 'wrong'), {})
    expect(await count()).toBe(20)
    expect(await eventsOf(sample)).toEqual(['desk-resolved', 'desk-wrong'])
  } finally {
    await pool.query('update reporters set wants_answers = false where id = $1', [ann.id])
  }
})

test('a reporter who retracted the report gets no letter', async () => {
  const { pool } = site.app
  await pool.query('update reporters set wants_answers = true where id = $1', [ann.id])
  try {
    const feedback = await told()
    await pool.query(`update reports set state = 'retracted' where id = $1`, [feedback.reportId])
    await desk.post(linkOf(feedback, 'resolved'), {})
    expect(await rows('select id from letters where report_id = $1', [feedback.reportId])).toEqual(
      [],
    )
  } finally {
    await pool.query('update reporters set wants_answers = false where id = $1', [ann.id])
  }
})
