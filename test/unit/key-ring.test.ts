import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { openBytes, sealBytes, type SealedFor } from '../../src/db/sealed-bytes.ts'
import { consumerLink, parseConsumerToken } from '../../src/feedback/enroll.ts'
import { redactionKey } from '../../src/evidence/codes.ts'
import { createKeyRing, type KeyPurpose, keyPurposes, type KeyRing } from '../../src/key-ring.ts'
import {
  answerLinks,
  composeAnswerAddress,
  composeLetterAnswerAddress,
  composeLetterReturnPath,
  composeReturnPath,
  lettersOffLink,
  mailInHash,
  mailInSecret,
  parseAnswerToken,
  parseLettersOffToken,
  parseOwnAddress,
} from '../../src/mail/verp.ts'
import { codeOf } from '../../src/people/secret-state.ts'
import { isSpooledId, spooledId } from '../../src/outage/spooled-id.ts'
import { uuidv7 } from '../../src/world.ts'

const [old, fresh] = [
  'the old secret of the tests, long enough',
  'the new secret of the tests, too',
]
const changedAt = new Date('2026-06-01T12:00:00Z')
const before = new Date('2026-05-31T12:00:00Z')
const after = new Date('2026-06-02T12:00:00Z')
const now = new Date('2026-06-03T12:00:00Z')

const ring = (secret: string, ...previous: string[]) => createKeyRing(secret, previous, () => now)
const [oldName = '', freshName = ''] = [ring(old).names[0], ring(fresh).names[0]]

/** The key ring of a site whose secret was changed, with the old secret. */
function changed(endedAt: Date | null = null): KeyRing {
  const made = ring(fresh, old)
  made.update([
    { name: oldName, inForceAt: new Date(0), endedAt },
    { name: freshName, inForceAt: changedAt, endedAt: null },
  ])
  return made
}

const publicUrl = 'https://here.example'
const domain = 'bounces.here.example'
const last = (url: string, from = 1) => url.split('/').at(-from) ?? ''

/** Issues something at a time, and returns whether another key ring accepts it. */
type Issue = (secret: KeyRing, at: Date) => (other: KeyRing) => boolean

const address =
  (compose: (id: string, settings: { domain: string; secret: KeyRing }) => string): Issue =>
  (secret, at) => {
    const text = compose(uuidv7(at), { domain, secret })
    return (other) => typeof parseOwnAddress(text, { domain, secret: other }) === 'object'
  }

const sealed =
  (purpose: SealedFor['purpose']): Issue =>
  (secret) => {
    const bytes = sealBytes(Buffer.from('text'), { purpose, owner: 'ann' }, secret)
    return (other) => openBytes(bytes, { purpose, owner: 'ann' }, other) !== undefined
  }

/** For what is computed again and compared. */
const derived =
  (purpose: KeyPurpose): Issue =>
  (secret, at) => {
    const key = secret.key(purpose)
    return (other) => other.key(purpose, at).equals(key)
  }

/** For what has no time of issue. */
const timeless =
  (purpose: KeyPurpose): Issue =>
  (secret) => {
    const key = secret.key(purpose)
    return (other) => other.find(purpose, (one) => one.equals(key) || undefined) ?? false
  }

/** For what begins anew with a change. */
const restarted =
  (purpose: KeyPurpose): Issue =>
  (secret) => {
    const key = secret.key(purpose)
    return (other) => other.key(purpose).equals(key)
  }

const dated =
  (purpose: KeyPurpose): Issue =>
  (secret, at) => {
    const key = secret.key(purpose)
    return (other) => other.find(purpose, (one) => one.equals(key) || undefined, at) ?? false
  }

const issues: Record<KeyPurpose, Issue> = {
  'second step': sealed('second step'),
  'keys of a letter': sealed('keys of a letter'),
  'known callers': sealed('known callers'),
  'provider flow': sealed('provider flow'),
  'refresh token': sealed('refresh token'),
  'partner key': sealed('partner key'),
  'return path': address((reportId, its) => composeReturnPath({ reportId, number: 1 }, its)),
  'answer address': address((reportId, its) => composeAnswerAddress({ reportId, number: 1 }, its)),
  'letter return path': address(composeLetterReturnPath),
  'letter answer address': address(composeLetterAnswerAddress),
  'answer link': (secret, at) => {
    const { stop } = answerLinks({ reportId: uuidv7(at), number: 1 }, { publicUrl, secret })
    return (other) => parseAnswerToken(last(stop, 2), other) !== undefined
  },
  'letters off': (secret, at) => {
    const { url } = lettersOffLink(uuidv7(at), 'news', { publicUrl, secret })
    return (other) => parseLettersOffToken(last(url), other) !== undefined
  },
  'consumer page': (secret, at) => {
    const { url } = consumerLink(uuidv7(at), { publicUrl, secret })
    return (other) => parseConsumerToken(last(url), other) !== undefined
  },
  'mail-in address': (secret, at) => {
    const row = { reporterId: uuidv7(at), generation: 1 }
    const hash = mailInHash(mailInSecret(row, secret.key('mail-in address')))
    const isIt = (key: Buffer) => mailInHash(mailInSecret(row, key)).equals(hash) || undefined
    return (other) => other.find('mail-in address', isIt, at) ?? false
  },
  'mailbox user': timeless('mailbox user'),
  webhook: derived('webhook'),
  codes: (secret, at) => {
    const key = redactionKey(secret, 'desk', at)
    return (other) => redactionKey(other, 'desk', at).equals(key)
  },
  'audit log': derived('audit log'),
  'spooled id': (secret, at) => {
    const [id, reporter] = [uuidv7(at), uuidv7(at)]
    const given = spooledId(id, reporter, secret)
    return (other) => isSpooledId(given, reporter, other)
  },
  simulation: timeless('simulation'),
  session: timeless('session'),
  form: timeless('form'),
  device: dated('device'),
  limit: restarted('limit'),
  asker: restarted('asker'),
}

/** What an ended secret still reads, because it is only useful together with our database. */
const outlivingLeak: readonly KeyPurpose[] = [
  'second step',
  'keys of a letter',
  'refresh token',
  'partner key',
  'mailbox user',
  'audit log',
  'simulation',
]
const restarting: readonly KeyPurpose[] = ['limit', 'asker']
/** What has no time of issue. It is useless without a row that only we can write. */
const withoutTime: readonly KeyPurpose[] = [
  'second step',
  'keys of a letter',
  'known callers',
  'provider flow',
  'refresh token',
  'partner key',
  'mailbox user',
  'simulation',
  'session',
  'form',
]

test.each(keyPurposes)(
  '%s: the old secret counts only for what is older than the change',
  (name) => {
    const issue = issues[name]
    expect(issue(ring(old), before)(changed())).toBe(!restarting.includes(name))
    expect(issue(ring(old), before)(ring(fresh))).toBe(false)
    expect(issue(ring(old), after)(changed())).toBe(withoutTime.includes(name))
    expect(issue(changed(), after)(ring(fresh))).toBe(true)
    expect(issue(ring(old), before)(changed(now))).toBe(outlivingLeak.includes(name))
  },
)

test('until the change takes effect, the previous secret issues', () => {
  const prepared = ring(fresh, old)
  const first = { name: oldName, inForceAt: new Date(0), endedAt: null }
  prepared.update([first])
  const computed: KeyPurpose[] = ['webhook', 'codes', 'audit log', ...restarting]
  for (const name of keyPurposes) {
    expect(issues[name](prepared, after)(ring(old))).toBe(true)
    expect(issues[name](ring(fresh), after)(prepared)).toBe(!computed.includes(name))
  }
  const second = { name: freshName, inForceAt: new Date(now.getTime() + 1), endedAt: null }
  prepared.update([first, second])
  expect(prepared.key('answer link')).toEqual(ring(old).key('answer link'))
})

test('a process without the secret in force issues nothing, and notes what it accepts', () => {
  const late = ring(old)
  late.update([
    { name: oldName, inForceAt: new Date(0), endedAt: null },
    { name: freshName, inForceAt: changedAt, endedAt: null },
  ])
  expect(late.isUsable()).toBe(false)
  expect(() => late.key('answer link')).toThrow('SECRET is not the secret')
  const both = changed()
  issues['answer link'](both, after)(both)
  expect(both.takeUses()).toEqual([])
  issues['answer link'](ring(old), before)(both)
  expect(both.takeUses()).toEqual([{ name: oldName, purpose: 'answer link' }])
  expect(both.takeUses()).toEqual([])
})

const source = path.join(import.meta.dirname, '../../src')

test('only the key ring derives keys, and the settings of a process contain no secret', () => {
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
  const using = (pattern: RegExp) =>
    files.filter((file) => {
      return file.endsWith('.ts') && pattern.test(readFileSync(path.join(source, file), 'utf8'))
    })
  expect(using(/\bhkdf(Sync)?\b|\bpbkdf2|\bscrypt/)).toEqual(['key-ring.ts'])
  expect(using(/\bcreate(De|C)ipheriv\b/)).toEqual(['db/sealed-bytes.ts'])
  // The secret as a text is read from the settings, and passed to the parts of `start`.
  const readers = ['config.ts', 'processes/data-dir.ts', 'processes/keep-secret.ts']
  expect(using(/\bpreviousSecrets\b|config\.secret === undefined/).toSorted()).toEqual(
    ['app.ts', ...readers, 'processes/start.ts'].filter((file) => file !== 'processes/data-dir.ts'),
  )
})

test('the page for operators lists each purpose', () => {
  const page = readFileSync(path.join(source, '../docs/operators/secret.md'), 'utf8')
  const texts = JSON.parse(
    readFileSync(path.join(source, 'texts/en/admin-secret.json'), 'utf8'),
  ) as Record<string, string>
  for (const purpose of keyPurposes) {
    expect(page).toContain(`| ${texts[`secret.uses.${codeOf({ purpose })}`]} |`)
  }
})
