import { expect, test } from 'vitest'
import { mayBeAnswered } from '../../../../src/mail/inbound/automatic.ts'
import { parseHeader } from '../../../../src/mail/header.ts'

const ours = ['@bounces.test.example', 'feedback@signalpost.example']

function isAnswered(line: string, mailFrom = 'ann@reporters.example'): boolean {
  const raw = Buffer.from(`From: <ann@reporters.example>\r\n${line}\r\nTo: x@y.example\r\n\r\n`)
  return mayBeAnswered(parseHeader(raw).fields, mailFrom, ours)
}

test.for([
  'Auto-Submitted: auto-replied',
  'Auto-Submitted: auto-generated (rule)',
  'Precedence: bulk',
  'Precedence: List',
  'List-Id: <talk.lists.example>',
  'List-Unsubscribe: <https://lists.example/u>',
  'X-Auto-Response-Suppress: DR, OOF, AutoReply',
  'X-Autoreply: yes',
  'X-Loop: me',
  'Return-Path: <>',
])('a mail with "%s" is not answered', (line) => {
  expect(isAnswered(line)).toBe(false)
})

test.for([
  'Auto-Submitted: no',
  'Precedence: first-class',
  'Return-Path: <ann@reporters.example>',
  'X-Mailer: list of things',
])('a mail with "%s" is answered', (line) => {
  expect(isAnswered(line)).toBe(true)
})

test('mail without a sender, automatic mail and our own mail is not answered', () => {
  expect(isAnswered('X-A: b', '')).toBe(false)
  expect(isAnswered('X-A: b', 'MAILER-DAEMON@mx.example')).toBe(false)
  expect(isAnswered('X-A: b', 'owner-talk@lists.example')).toBe(false)
  expect(isAnswered('X-A: b', 'fb-abc@Bounces.test.example')).toBe(false)
  expect(isAnswered('X-A: b', 'feedback@signalpost.example')).toBe(false)
  expect(isAnswered('X-A: b', 'bob@test.example')).toBe(true)
})
