import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { corpusFiles } from '../support/corpus.ts'
import { copyIn, lostDomains, wrongLines } from '../support/copied-message.ts'
import { feedbackOn, reportedMessage } from '../support/feedback-reports.ts'
import { leaksIn } from '../support/leaks.ts'
import { mailparserFields, ownFields, plain } from '../support/reader-fields.ts'
import { readByPython, readBySisimai } from './feedback-readers.ts'

let folder: string
beforeAll(async () => void (folder = await mkdtemp(path.join(tmpdir(), 'feedback-'))))
afterAll(() => rm(folder, { recursive: true }))

const time = 'Tue, 3 Nov 2026 08:15:00 +0000'
const received = `Received: from a.spam.example ([192.0.2.44]) by mx.home.example id 1; ${time}`
const text = 'Content-Type: text/plain; charset=utf-8'

/** Messages written by hand, for use without the corpus. */
const byHand = [
  ['plain', `${received}\r\nFrom: a@spam.example\r\nSubject: Buy\r\n\r\nBuy now.\r\n`],
  ['eight-bit', `${received}\r\nSubject: Café\r\n${text}\r\n\r\nUn café, déjà.\r\n`],
  ['no-subject', `${received}\r\nFrom: a@spam.example\r\n\r\nBuy now.\r\n`],
  ['automatic', `${received}\r\nReturn-Path: <>\r\nSubject: failure notice\r\n\r\nBuy now.\r\n`],
  ['vacation', `${received}\r\nSubject: Auto reply: Away\r\n${text}\r\n\r\nBuy now.\r\n`],
  [
    'multipart',
    [
      `${received}\r\nSubject: Two\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b`,
      `${text}\r\nContent-Transfer-Encoding: base64\r\n\r\nQnV5IG5vdy4=\r\n--b`,
      'Content-Type: message/rfc822\r\n\r\nSubject: In it\r\n\r\nMore.\r\n--b--\r\n',
    ].join('\r\n'),
  ],
].map(([name = '', raw = '']) => ({ name, raw: Buffer.from(raw) }))

const corpus = corpusFiles('phishing', 'spam', 'ham', 'newsletters', 'robustness', 'bounces') ?? []

test(
  'other parsers get the same values from feedback, and none finds the reporter',
  { timeout: 900_000 },
  async () => {
    const reports = new Map<string, { raw: Buffer; copied: string; isOrdinary: boolean }>()
    for (const [index, file] of [...byHand, ...corpus].entries()) {
      const message = await reportedMessage(file, index)
      if (!message) continue
      const raw = await feedbackOn(message)
      expect.soft(await leaksIn(raw, message.secrets), file.name).toEqual([])
      expect.soft(wrongLines(raw), file.name).toEqual([])
      const copy = await copyIn(raw)
      expect.soft(await lostDomains(message, copy), file.name).toEqual([])
      // Automatic mail leads to no feedback; for other mail, the network must be known.
      const isOrdinary = message.analysis.kind === 'message'
      const name = `${String(index)}.eml`
      reports.set(name, { raw, copied: linesOf(copy.text ?? ''), isOrdinary })
      await writeFile(path.join(folder, name), raw)
    }
    expect(reports.size).toBeGreaterThanOrEqual(byHand.length)
    const python = await readByPython(folder)
    const sisimai = await readBySisimai(folder)
    for (const [name, { raw, copied, isOrdinary }] of reports) {
      const fields = ownFields(raw)
      expect.soft(await mailparserFields(raw), name).toEqual(fields)
      const read = python.get(name)
      expect.soft(plain(read?.fields ?? []), name).toEqual(fields)
      expect.soft(read, name).toMatchObject({ type: 'multipart/report', defects: [] })
      expect.soft(read?.copy, name).toMatchObject({ type: 'text/plain', defects: [] })
      expect.soft(linesOf(read?.copy.text ?? ''), name).toBe(copied)
      expect.soft(copied, name).toContain('The original message: ')
      expect.soft(read?.text.replace(/\s+/g, ' '), name).toContain('This is an email abuse report')
      if (!isOrdinary) continue
      const [result] = sisimai.get(name)?.results ?? []
      expect.soft(result, name).toMatchObject({ reason: 'feedback', type: 'abuse' })
    }
    process.stdout.write(`${String(reports.size)} reports read by four programs.\n`)
  },
)

/** A text with the line ends of Unix, without those at its end. */
function linesOf(text: string): string {
  return text.replaceAll('\r\n', '\n').trimEnd()
}
