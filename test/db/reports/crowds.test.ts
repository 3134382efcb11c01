import { expect, test } from 'vitest'
import { findAnalysis } from '../../../src/db/analyses.ts'
import { listFeedback } from '../../../src/db/feedback-reports.ts'
import { findReport } from '../../../src/db/reports.ts'
import { runAnalyzeReport } from '../../../src/reports/analyze-report.ts'
import { createKnownExchangers } from '../../../src/reports/known-exchangers.ts'
import { answerQuestion, setRelays } from '../../../src/reports/set-relays.ts'
import type { Resolve } from '../../../src/world.ts'
import { closeAfterThisTest } from '../../support/after-tests.ts'
import { openTestApp } from '../../support/app.ts'
import { foldAll, standing } from '../../support/evidence.ts'
import { parser } from '../../support/parser.ts'

const machine = '198.51.100.23'

/** A message that a machine hands over without lines of its own. */
const handed = (author: string, mark: string) =>
  Buffer.from(
    [
      `Received: from out.relay.example (out.relay.example [${machine}])`,
      ' by mail.home.example (Postfix) with ESMTPS id 4ABC',
      ' for <ann@reporters.example>; Mon, 16 Nov 2026 10:00:02 +0000',
      `From: offers@${author}`,
      `Subject: Cheap watches ${mark}`,
      `Message-ID: <${mark}@${author}>`,
      '',
      `Buy at https://${author}/${mark} now.`,
      '',
    ].join('\r\n'),
  )

async function site(resolve?: Resolve) {
  const app = await closeAfterThisTest(openTestApp({ ORIGIN_CONFIDENCE_MIN: '0.7' }))
  const exchangersOf = resolve && createKnownExchangers({ ...app, resolve })
  const analyze = (reportId: string) =>
    runAnalyzeReport([{ reportId }], { ...app, parser, exchangersOf })
  return {
    app,
    analyze,
    async report(author: string, reporterId = app.ann) {
      const { id } = await app.report(handed(author, `${author}-${reporterId}`), { reporterId })
      await analyze(id)
      return id
    },
    action: async (id: string) => (await findAnalysis(app.pool, id))?.details.consequence.action,
  }
}

const authors = ['one.example', 'two.example', 'three.example']

test('a machine that hands over mail of many authors is asked about, not accused', async () => {
  const { app, analyze, report, action } = await site()
  for (const author of authors) expect(await action(await report(author))).toBe('forward')
  expect(await action(await report('five.example', app.bob))).toBe('forward')
  await foldAll(app.pool, new Date())
  const before = await standing(app.pool, { kind: 'address', name: machine }, new Date())
  const fourth = await report('four.example')
  expect((await findAnalysis(app.pool, fourth))?.details.consequence).toMatchObject({
    action: 'ask',
    why: [
      { code: 'peer-has-crowd', params: { ip: machine, count: 4 } },
      { code: 'question-asked' },
    ],
  })
  expect(await listFeedback(app.pool, [fourth])).toEqual([])
  await foldAll(app.pool, new Date())
  const after = await standing(app.pool, { kind: 'address', name: machine }, new Date())
  expect(after.weight).toBeCloseTo(before.weight, 3)
  // Whoever knows the machine may say so.
  const asked = await findReport(app.pool, fourth)
  if (asked) await answerQuestion(app, asked, { ip: machine, isMine: false })
  await analyze(fourth)
  expect(await action(fourth)).toBe('forward')
})

test('mail of one author, of other reporters or of denied machines is no crowd', async () => {
  const { app, report, action } = await site()
  for (const author of authors) await report(author)
  for (let count = 0; count < 3; count++) {
    expect(await action(await report(`news${count}.one.example`))).toBe('forward')
  }
  expect(await action(await report('four.example', app.bob))).toBe('forward')
  await setRelays(app, app.ann, [{ cidr: `${machine}/32`, name: null, how: 'refused' }])
  expect(await action(await report('five.example'))).toBe('forward')
})

test('where the MX records name another host, a crowd is a spammer', async () => {
  const { app, report, action } = await site(async (_name, type) =>
    type === 'MX' ? { is: 'found', records: ['mail.home.example'] } : { is: 'none' },
  )
  for (const author of [...authors, 'four.example', 'five.example']) {
    expect(await action(await report(author))).toBe('forward')
  }
  expect(await app.rows('select * from hand_overs')).toEqual([])
})
