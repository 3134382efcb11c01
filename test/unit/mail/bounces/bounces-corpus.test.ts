import { describe, expect, test } from 'vitest'
import { parseBounce } from '../../../../src/mail/bounces/parse-bounce.ts'
import { parseFeedbackReport } from '../../../../src/mail/mail-parts.ts'
import {
  fieldValue,
  fieldValues,
  type HeaderField,
  parseHeader,
} from '../../../../src/mail/header.ts'
import { findLeaf, leafBytes, readMime } from '../../../../src/mail/mime-leaves.ts'
import { readInbound } from '../../../../src/mail/inbound/read-inbound.ts'
import { corpusTruths } from '../../../support/corpus.ts'

const truths = corpusTruths('bounces')

const conversions = [
  ['CRLF', '\r\n'],
  ['LF', '\n'],
  ['CR', '\r'],
] as const

function withLineEnd(raw: Buffer, lineEnd: string): Buffer {
  return Buffer.from(raw.toString('latin1').replace(/\r\n|\n|\r/g, lineEnd), 'latin1')
}

const inboundKinds: Readonly<Record<string, readonly string[]>> = {
  dsn: ['bounce'],
  arf: ['complaint'],
  vacation: ['auto-reply'],
  'not-bounce': ['reply'],
}

describe.skipIf(truths === undefined)('real bounces (skipped without the corpus)', () => {
  describe.each(conversions)('with lines that end in %s', (_, lineEnd) => {
    const mails = (truths ?? []).map((mail) => ({ ...mail, raw: withLineEnd(mail.raw, lineEnd) }))
    const bounces = mails
      .filter(({ truth }) => truth.kind === 'dsn')
      .map((mail) => ({ ...mail, results: parseBounce(mail.raw)?.results ?? [] }))
    const results = bounces.flatMap(({ results: found, truth }) =>
      (truth.expected?.results ?? []).map((expected, index) => ({ expected, is: found[index] })),
    )

    test('are all distinguished from feedback reports, automatic answers and other mail', () => {
      const wrong = mails.filter(
        ({ raw, truth }) => inboundKinds[truth.kind]?.includes(readInbound(raw, '').kind) !== true,
      )
      expect(wrong.map(({ name }) => name)).toEqual([])
    })

    test('have the right status in 97 of 100 cases', () => {
      expect(
        share(results, ({ expected, is }) => is?.status === expected.deliverystatus),
      ).toBeGreaterThanOrEqual(0.97)
    })

    test('are classified hard or soft correctly in 97 of 100 cases', () => {
      expect(
        share(results, ({ expected, is }) => is?.hard === expected.hardbounce),
      ).toBeGreaterThanOrEqual(0.97)
    })

    test('have the right reason in 97 of 100 cases', () => {
      expect(
        share(results, ({ expected, is }) => is?.reason === expected.reason),
      ).toBeGreaterThanOrEqual(0.97)
    })

    test('have the right reply code in 97 of 100 cases', () => {
      const right = ({ expected, is }: (typeof results)[number]) =>
        String(is?.replyCode ?? '') === expected.replycode
      expect(share(results, right)).toBeGreaterThanOrEqual(0.97)
    })

    test('have the right recipients in 95 of 100 cases', () => {
      const pairs = bounces.flatMap(({ results: found, truth }) =>
        (truth.oracle_p5_sisimai_5_1_0 ?? []).map(({ recipient }) => ({ recipient, found })),
      )
      const isNamed = ({ recipient, found }: (typeof pairs)[number]) =>
        found.some((result) => result.recipient.toLowerCase() === recipient.toLowerCase())
      expect(share(pairs, isNamed)).toBeGreaterThanOrEqual(0.95)
    })

    test('that are feedback reports have the returned message', () => {
      for (const { name, raw, truth } of mails) {
        const {
          n_received: received,
          'message-id': id,
          ...original
        } = truth.feedback_report?.original ?? {}
        const fields = returnedFields(raw)
        for (const [key, value] of Object.entries(original)) {
          expect(fieldValue(fields, key)?.replace(/\s+/g, ' '), `${name} ${key}`).toBe(
            String(value).replace(/\s+/g, ' ').trim(),
          )
        }
        if (received === undefined) continue
        expect(fieldValues(fields, 'received'), name).toHaveLength(Number(received))
        const found = readInbound(raw, '').returned.messageIds
        if (id !== undefined) expect(found, name).toContain(String(id).replace(/[<>]/g, '').trim())
      }
    })

    test('that are feedback reports have all their fields', () => {
      for (const { name, raw, truth } of mails) {
        const fields = truth.feedback_report?.feedback_fields
        if (fields) expect(parseFeedbackReport(raw)?.fields, name).toEqual(fields)
      }
    })
  })
})

/** Returns the header of the message that a bounce is about. */
function returnedFields(raw: Buffer): HeaderField[] {
  const mail = readMime(raw)
  const part = findLeaf(mail, 'message/rfc822') ?? findLeaf(mail, 'text/rfc822-headers')
  return part === undefined ? [] : parseHeader(leafBytes(part) ?? part.content).fields
}

function share<T>(all: readonly T[], isRight: (one: T) => boolean): number {
  return all.filter(isRight).length / all.length
}
