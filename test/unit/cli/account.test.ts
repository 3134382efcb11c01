import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { parseAccount, readPassword } from '../../../src/processes/add-account.ts'

test('the address is stored in lower case, and options that are not given have no effect', () => {
  expect(parseAccount(['add', '--email', 'Ann@Example.com'])).toEqual({
    email: 'ann@example.com',
    asksPassword: false,
    role: null,
    wantsToken: false,
    isUnproven: false,
  })
})

test('all options can be combined', () => {
  const args = 'add --email a@example.com --password --role administrator --token --unproven'
  expect(parseAccount([...args.split(' '), '--language', 'ru'])).toEqual({
    email: 'a@example.com',
    asksPassword: true,
    role: 'administrator',
    wantsToken: true,
    isUnproven: true,
    language: 'ru',
  })
})

test('a password needs at least ten characters', async () => {
  const given = (text: string) =>
    readPassword({ stdin: Readable.from([text]), stderr: process.stderr })
  expect(await given(`${'x'.repeat(10)}\nmore\n`)).toBe('x'.repeat(10))
  await expect(given(`${'x'.repeat(9)}\n`)).rejects.toThrow('must have at least 10 characters.')
  await expect(given('')).rejects.toThrow('Standard input is empty')
})

test('a password among the arguments is refused and not repeated in the message', () => {
  for (const given of [['--password', 'hunter2hunter2'], ['--password=hunter2hunter2']]) {
    const parse = () => parseAccount(['add', '--email', 'a@example.com', ...given])
    expect(parse).toThrow(/standard input|does not take an argument/)
    expect(parse).not.toThrow('hunter2')
  }
})

test.for([
  ['nothing', [], 'Use "account add".'],
  ['another verb', ['remove', '--email', 'a@example.com'], 'Use "account add".'],
  ['two verbs', ['add', 'add', '--email', 'a@example.com'], 'Use "account add".'],
  ['no address', ['add'], '--email must be a valid email address.'],
  ['half an address', ['add', '--email', 'ann@'], '--email must be a valid email address.'],
  ['two lines', ['add', '--email', 'a@example.com\nb@example.com'], '--email must be'],
  ['no language', ['add', '--email', 'a@example.com', '--language', 'xx'], '--language must be'],
  ['an unknown option', ['add', '--email', 'a@example.com', '--root'], /--root/],
] as const)('%s is refused with a reason', ([, args, problem]) => {
  expect(() => parseAccount(args)).toThrow(problem)
})

test('all errors are reported at once', () => {
  expect(() => parseAccount(['--password', '--language', 'xx'])).toThrow(
    'Use "account add".\n--email must be a valid email address.\n--language must be',
  )
})
