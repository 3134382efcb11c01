import { expect, test } from 'vitest'
import type { ListName } from '../../../../src/verdict/lists/list.ts'
import { type Spared, whySpared } from '../../../../src/verdict/lists/spare.ts'

const own = ['spam.ours.example', 'mail.ours-too.example']

// Each reason with a name that raises it, and one that nearly does.
test.for<[ListName, string, Spared | undefined]>([
  ['addresses', '192.0.2.7', undefined],
  ['addresses', '2001:db8::7', undefined],
  ['addresses', '2001:db8:0::7', 'no such name'],
  ['addresses', '192.0.2.0/24', 'no such name'],
  ['addresses', 'bad.example', 'no such name'],
  ['addresses', '10.1.2.3', 'no public address'],
  ['addresses', '11.1.2.3', undefined],
  ['addresses', '127.0.0.1', 'no public address'],
  ['addresses', '100.64.0.1', 'no public address'],
  ['addresses', '224.0.0.1', 'no public address'],
  ['addresses', 'fe80::1', 'no public address'],
  ['addresses', '::1', 'no public address'],
  ['addresses', '209.85.128.1', 'mailbox provider'],
  ['addresses', '209.86.128.1', undefined],
  ['addresses', '2a01:111:f400::25', 'mailbox provider'],
  ['domains', 'bad-shop.example', undefined],
  ['domains', 'www.bad-shop.example', 'no such name'],
  ['domains', 'bad shop.example', 'no such name'],
  ['domains', 'BAD.example', 'no such name'],
  ['domains', `${'a'.repeat(64)}.example`, 'no such name'],
  ['domains', 'co.uk', 'public suffix'],
  ['domains', 'shop.co.uk', undefined],
  ['domains', 'example', 'no such name'],
  ['domains', 'github.io', 'public suffix'],
  ['hosts', 'bad.github.io', undefined],
  ['domains', 'bad.test', 'reserved name'],
  ['domains', 'bad.local', 'reserved name'],
  ['domains', 'bad.locals', undefined],
  ['domains', 'gmail.com', 'mailbox provider'],
  ['domains', 'gmail-com.example', undefined],
  ['domains', 'outlook.com', 'mailbox provider'],
  ['hosts', 'mail.google.com', 'mailbox provider'],
  ['hosts', 'mail.google.com.bad.example', undefined],
  ['domains', 'bit.ly', 'link shortener'],
  ['hosts', 'bit.ly', 'link shortener'],
  ['domains', 'bitly.example', undefined],
  ['domains', 'facebook.com', 'shared platform'],
  ['hosts', 'bad.dropboxusercontent.com', 'shared platform'],
  ['hosts', 'bad.s3.amazonaws.com', undefined],
  ['hosts', 's3.amazonaws.com', 'public suffix'],
  ['domains', 'amazonaws.com', 'shared platform'],
  ['domains', 'ours.example', 'our own'],
  ['hosts', 'spam.ours.example', 'our own'],
  ['hosts', 'www.spam.ours.example', 'our own'],
  ['hosts', 'other.ours.example', undefined],
  ['domains', 'not-ours.example', undefined],
  ['hosts', '192.0.2.7', 'no such name'],
])('on %s, %s is spared as %s', ([list, name, why]) => {
  expect(whySpared(list, name, own)).toBe(why)
})
