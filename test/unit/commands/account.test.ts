import { expect, test } from 'vitest'
import { parseAccount } from '../../../src/commands/account.ts'

test('the address is kept in lower case, and what is not asked for is not done', () => {
  expect(parseAccount(['add', '--email', 'Ann@Example.com'])).toEqual({
    email: 'ann@example.com',
    password: undefined,
    isAdmin: false,
    wantsToken: false,
    isUnproven: false,
  })
})

test('all options together', () => {
  const args =
    'add --email a@example.com --password correct-horse --admin --token --unproven --language ru'
  expect(parseAccount(args.split(' '))).toEqual({
    email: 'a@example.com',
    password: 'correct-horse',
    isAdmin: true,
    wantsToken: true,
    isUnproven: true,
    language: 'ru',
  })
})

test('a password of ten characters is long enough, one of nine is not', () => {
  const withPassword = (password: string) => () =>
    parseAccount(['add', '--email', 'a@example.com', '--password', password])
  expect(withPassword('x'.repeat(10))().password).toHaveLength(10)
  expect(withPassword('x'.repeat(9))).toThrow('--password must have at least 10 characters.')
})

test.for([
  ['nothing', [], 'Say "account add".'],
  ['another verb', ['remove', '--email', 'a@example.com'], 'Say "account add".'],
  ['two verbs', ['add', 'add', '--email', 'a@example.com'], 'Say "account add".'],
  ['no address', ['add'], '--email must be a mail address.'],
  ['half an address', ['add', '--email', 'ann@'], '--email must be a mail address.'],
  ['two lines', ['add', '--email', 'a@example.com\nb@example.com'], '--email must be'],
  ['no language', ['add', '--email', 'a@example.com', '--language', 'xx'], '--language must be'],
  ['an unknown option', ['add', '--email', 'a@example.com', '--root'], /--root/],
] as const)('%s is refused with what is wrong', ([, args, problem]) => {
  expect(() => parseAccount(args)).toThrow(problem)
})

test('all that is wrong is said at once', () => {
  expect(() => parseAccount(['--password', 'x'])).toThrow(
    'Say "account add".\n--email must be a mail address.\n--password must have',
  )
})
