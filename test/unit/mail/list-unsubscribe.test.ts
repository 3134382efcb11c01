import { expect, test } from 'vitest'
import { parseHeader } from '../../../src/mail/header.ts'
import { parseListUnsubscribe } from '../../../src/mail/list-unsubscribe.ts'
import { messageKind } from '../../../src/mail/message.ts'

const fields = (text: string) => parseHeader(Buffer.from(`${text}\n\n`, 'latin1')).fields
const post = '\nList-Unsubscribe-Post: List-Unsubscribe=One-Click'

test.for([
  [
    'both ways, folded',
    `List-Unsubscribe: <https://example.com/u?a=1>,\n <mailto:u@example.com>${post}`,
    { https: 'https://example.com/u?a=1', mailto: 'mailto:u@example.com', oneClick: true },
  ],
  [
    'without the Post field it is not one-click',
    'List-Unsubscribe: <https://example.com/u>',
    { https: 'https://example.com/u', mailto: null, oneClick: false },
  ],
  [
    'plain http is never one-click',
    `List-Unsubscribe: <http://example.com/u>${post}`,
    { https: 'http://example.com/u', mailto: null, oneClick: false },
  ],
  [
    'mail alone is never one-click',
    `List-Unsubscribe: <mailto:u@example.com>${post}`,
    { https: null, mailto: 'mailto:u@example.com', oneClick: false },
  ],
  [
    'blanks that folding left in an address are removed',
    'List-Unsubscribe: <https://example.com/\n u>',
    { https: 'https://example.com/u', mailto: null, oneClick: false },
  ],
  [
    'missing brackets are forgiven',
    'List-Unsubscribe: https://example.com/u',
    { https: 'https://example.com/u', mailto: null, oneClick: false },
  ],
  ['no address, nothing', 'List-Unsubscribe: see below', null],
  ['no field, nothing', 'Subject: x', null],
] as const)('%s', ([, text, expected]) => {
  expect(parseListUnsubscribe(fields(text))).toEqual(expected)
})

const report = 'Content-Type: multipart/report; boundary=x;\n report-type='

test.for([
  [`${report}delivery-status`, 'dsn'],
  [`${report}"feedback-report"`, 'feedback-report'],
  [`${report}disposition-notification`, 'message'],
  ['Content-Type: multipart/mixed; report-type=delivery-status', 'message'],
  ['Auto-Submitted: auto-replied (vacation)', 'auto-reply'],
  ['Auto-Submitted: auto-generated', 'message'],
  ['Auto-Submitted: no', 'message'],
  ['X-Autoreply: yes', 'auto-reply'],
  ['Precedence: auto_reply', 'auto-reply'],
  ['Precedence: bulk', 'message'],
] as const)('%j is rejected as %s', ([text, expected]) => {
  expect(messageKind(fields(text))).toBe(expected)
})
