import { expect, test } from 'vitest'
import { parseCollect } from '../../../src/cli/collect-imap.ts'
import { parseCollector } from '../../../src/cli/collector-settings.ts'
import { UsageError } from '../../../src/errors.ts'
import { codeBlocks, readDocument } from '../../support/documents.ts'

const example = codeBlocks(readDocument('docs/mail-servers/imap.md'))[0]?.text ?? ''

function problemsIn(content: string): readonly string[] {
  try {
    parseCollector(content, '/etc/signalpost')
    return []
  } catch (error) {
    if (error instanceof UsageError) return error.problems
    throw error
  }
}

test('the documented file names an account, its folders and its secrets', () => {
  const { url, messageBytesMax, accounts } = parseCollector(example, '/etc/signalpost')
  expect({ url, messageBytesMax }).toEqual({
    url: 'https://signalpost.example',
    messageBytesMax: 50_000_000,
  })
  expect(accounts).toEqual([
    {
      host: 'imap.provider.example',
      port: 993,
      security: 'tls',
      user: 'ann@provider.example',
      secret: { is: 'pass', file: '/etc/signalpost/ann.password' },
      tokenFile: '/etc/signalpost/token',
      onBehalfOf: 'ann@provider.example',
      folders: [
        { name: 'Report spam', kind: 'spam', moveTo: 'Junk' },
        { name: 'Report phishing', kind: 'phishing', moveTo: 'Junk' },
        { name: 'Not spam', kind: 'not-spam', moveTo: 'INBOX' },
      ],
    },
  ])
})

test.for([
  ['kind: spam, move-to: Junk', 'kind: ham', /^accounts\.0\.folders\.0\.kind: /],
  ['user: ann@provider.example', 'usr: ann', /^accounts\.0: Unrecognized key: "usr"/m],
  ['    password-file: ann.password\n', '', /^accounts\.0: Give either password-file or/],
  ['token-file: token\n', '', /^accounts\.0: token-file is missing/],
  ['host: imap', 'security: none\n    host: imap', /^accounts\.0: security "none" would send/],
  ['move-to: INBOX', 'move-to: Report spam', /would move messages to "Report spam", which is/],
  ['name: Not spam', 'name: Report spam', /^accounts\.0: A folder is named twice/],
  ['on-behalf-of: ann', 'address: ann', /^accounts\.0: address is for on-behalf-of/],
  ['to: https:', 'to: ftp:', /^to: /],
  ['accounts:', 'accounts: [', /^The file of the collector is not YAML: /],
] as const)('"%s" as "%s" is a mistake', ([right, wrong, problem]) => {
  expect(example).toContain(right)
  expect(problemsIn(example.replace(right, wrong)).join('\n')).toMatch(problem)
})

test('the password goes in the clear to a loopback address only', () => {
  const local = example.replace('host: imap.provider.example', 'security: none\n    host: "::1"')
  expect(problemsIn(local)).toEqual([])
})

test('the command names what to collect and the file', () => {
  expect(parseCollect(['imap', 'a.yaml', '--once'])).toEqual({ file: 'a.yaml', isOnce: true })
  expect(() => parseCollect(['pop3', 'a.yaml'])).toThrow(/collect imap FILE/)
  expect(() => parseCollect(['imap'])).toThrow(/FILE/)
})
