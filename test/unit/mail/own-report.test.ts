import { expect, test } from 'vitest'
import { feedbackFormats } from '../../../src/mail/feedback-format.ts'
import { composeDigest } from '../../../src/mail/digest.ts'
import { attachedReport, readOwnReport, readReportLine } from '../../../src/mail/own-report.ts'
import { composeFeedback } from '../../../src/parsing/compose-report.ts'
import { analyzePlainly } from '../../../src/pieces/analyze.ts'
import { contentOf } from '../../support/feedback-reports.ts'
import { spamMessage } from '../../support/messages.ts'

async function compose(index: number, changes: Parameters<typeof contentOf>[1] = {}) {
  const raw = spamMessage(`own-${index}`)
  const analysis = await analyzePlainly(raw, { trustedRelays: [], ignoreStamps: false })
  return composeFeedback(raw, analysis, contentOf(index, changes))
}

test.for(feedbackFormats)('a report in the format %s is read back', async (format) => {
  const own = readOwnReport((await compose(1, { format })).raw)
  expect(own?.text).toContain('198.51.100.23')
  expect(own?.text).toContain('Resolved:')
  expect(own?.message?.toString()).toMatch(/^Return-Path: /)
  expect(own?.message?.toString()).toContain('https://shop.example/own-1')
  expect(own?.message?.toString()).not.toContain('Content-Type: message/feedback-report')
})

test('a report with the header only has no body', async () => {
  const own = readOwnReport((await compose(1, { form: 'headers' })).raw)
  expect(own?.message?.toString()).toContain('Subject: Cheap watches own-1')
  expect(own?.message?.toString()).not.toContain('https://shop.example')
})

test.for(feedbackFormats)(
  'the line that is read back from a report in the format %s is the one it was composed with',
  async (format) => {
    const { raw, line } = await compose(1, { format })
    expect(line).toMatchObject({ kind: 'abuse', subject: 'Cheap watches own-1' })
    expect(readReportLine(raw)).toEqual(line)
  },
)

test('a digest is read back with its reports', async () => {
  const { from, to, createdAt: date, answerAddress: replyTo, service } = contentOf(1)
  const numbers = [1, 2].map((index) => `${contentOf(index).reportId}.1`)
  const reports = await Promise.all(
    numbers.map(async (number, at) => ({ ...(await compose(at + 1)), number })),
  )
  const messageId = '<digest@here.example>'
  const raw = composeDigest({ from, to, date, replyTo, service, messageId, reports })
  const own = readOwnReport(raw)
  expect(own?.attached).toHaveLength(2)
  const second = own && attachedReport(own, numbers[1] ?? '')
  expect(second?.equals(reports[1]?.raw ?? Buffer.of())).toBe(true)
  expect(own && attachedReport(own, 'other.1')).toBeUndefined()
})

test.for(feedbackFormats)(
  'a report in the format %s that is cut off anywhere does no harm',
  async (format) => {
    const { raw } = await compose(1, { format })
    for (let length = 0; length < raw.length; length += 97) {
      const cut = raw.subarray(0, length)
      expect(() => [readOwnReport(cut), readReportLine(cut)]).not.toThrow()
    }
  },
)

test('a mail of somebody else is not read', () => {
  expect(readOwnReport(spamMessage('other'))).toBeUndefined()
  expect(readOwnReport(Buffer.of())).toBeUndefined()
})
