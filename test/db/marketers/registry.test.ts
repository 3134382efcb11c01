import { beforeEach, expect, test, vi } from 'vitest'
import { operations } from '../../../src/cli/marketers.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { runCommand } from '../../support/command.ts'
import { findMarketer, listMarketers, listProposals } from '../../../src/db/marketers.ts'
import { keepReports } from './seen-newsletters.ts'
import { runProposeMarketers } from '../../../src/marketers/propose-marketers.ts'
import { openMarketers } from '../../../src/marketers/live-marketers.ts'
import { listRecognized } from '../../../src/marketers/registry.ts'
import { createMarketerBook } from '../../../src/pieces/marketer.ts'
import { shippedServices } from '../../../src/verdict/marketers/marketer-file.ts'
import { exampleShop, openNewsletters } from './newsletters.ts'

const letters = await closeAfterTests(openNewsletters())

beforeEach(() => letters.app.pool.query('delete from marketers'))

async function run(args: readonly string[], stdin = '') {
  const { code, stdout, stderr } = await runCommand(operations, args, letters.app, stdin)
  return { code, out: stdout, err: stderr }
}

const file = `# Two marketers.
- key: example-shop
  name: The Example Shop
  state: confirmed
  signers: [example.org, "*.Mail.example.org"]
  ranges: ["192.0.2.7/24"]
  website: https://www.example.org/
  advice:
    en: |
      Open your account.
      Choose “No mail”.
    ru: Откройте личный кабинет.
- key: example-club
  name: Example Club
  signers: [sendgrid.net]
  list_ids: [<club.example.net>]
  feedback: abuse@example.net
`

test('a file is imported whole, and importing it again changes nothing', async () => {
  expect(await run(['import', '-', '--dry-run'], file)).toMatchObject({
    code: 0,
    out: expect.stringContaining('2 added') as string,
  })
  expect(await listMarketers(letters.app.pool, { kind: 'marketer', after: '', limit: 9 })).toEqual(
    [],
  )
  expect((await run(['import', '-'], file)).out).toBe('2 added, 0 changed, 0 unchanged.\n')
  const before = await letters.app.rows('select * from marketers order by key')
  expect((await run(['import', '-'], file)).out).toBe('0 added, 0 changed, 2 unchanged.\n')
  expect(await letters.app.rows('select * from marketers order by key')).toEqual(before)
  expect(await findMarketer(letters.app.pool, 'example-shop')).toMatchObject({
    signers: ['example.org', '*.mail.example.org'],
    ranges: ['192.0.2.0/24'],
    advice: { en: 'Open your account.\nChoose “No mail”.', ru: 'Откройте личный кабинет.' },
  })
})

test.for(['yaml', 'jsonl'])(
  'a registry exported as %s can be imported unchanged',
  async (format) => {
    await run(['import', '-'], file)
    const before = await letters.app.rows('select * from marketers order by key')
    const { out } = await run(['export', ...(format === 'jsonl' ? ['--jsonl'] : [])])
    expect((await run(['import', '-'], out)).out).toBe('0 added, 0 changed, 2 unchanged.\n')
    await letters.app.pool.query('delete from marketers')
    await run(['import', '-'], out)
    const after = await letters.app.rows('select * from marketers order by key')
    const timeless = (rows: Record<string, unknown>[]) =>
      rows.map((row) => ({ ...row, changed_at: null }))
    expect(timeless(after)).toEqual(timeless(before))
  },
)

test('one error refuses the whole file, and all errors are reported', async () => {
  const wrong = file.replace('[sendgrid.net]', '[gmail.com]').replace('name: The', 'nome: The')
  const { code, err } = await run(['import', '-'], wrong)
  expect(code).toBe(1)
  expect(err).toContain('line 2, example-shop: name:')
  expect(err).toContain('Unknown field “nome”.')
  expect(err).toMatch(/line 15, example-club: signers: gmail\.com: anyone can have a mailbox/)
  expect(await listMarketers(letters.app.pool, { kind: 'marketer', after: '', limit: 9 })).toEqual(
    [],
  )
})

test('fields are set one by one, and refused like those of a file', async () => {
  await run(['import', '-'], file)
  expect((await run(['set', 'example-club', '--state', 'confirmed'])).code).toBe(0)
  expect((await findMarketer(letters.app.pool, 'example-club'))?.state).toBe('confirmed')
  const { code, err } = await run(['set', 'example-club', '--list-ids', 'none'])
  expect([code, err]).toEqual([1, expect.stringContaining('signs for many') as string])
  expect((await run(['remove', 'example-club'])).out).toContain('Marketer removed.')
  expect((await run(['remove', 'example-club'])).code).toBe(1)
  const log = await letters.app.rows(`select action from audit_log order by id desc limit 2`)
  expect(log.map(({ action }) => action)).toEqual(['remove marketer', 'set marketer'])
})

test('a running process uses a change within two seconds', async () => {
  const live = await openMarketers(letters.app)
  const shipped = shippedServices.length
  expect(live.current().count).toBe(shipped)
  await letters.keep(exampleShop)
  await vi.waitFor(() => expect(live.current().count).toBe(shipped + 1), 2_000)
  await letters.keep({ ...exampleShop, state: 'suspended' })
  await vi.waitFor(() => expect(live.current().count).toBe(shipped), 2_000)
  await live.close()
})

/** Returns the key of the service that a verified signature of the domain proves. */
async function serviceOf(domain: string): Promise<string | undefined> {
  const book = createMarketerBook(await listRecognized(letters.app.pool))
  const dkim = [
    { domain, selector: 's', result: 'pass', aligned: false, why: 'unchanged' } as const,
  ]
  const authentication = { spf: null, dkim }
  const none = { origin: null, listId: null, authorDomain: null }
  return book.recognize({ authentication, ...none }, 0.75).service?.key
}

test('an operator’s change of a shipped service replaces it until it is undone', async () => {
  expect(await serviceOf('u1.sendgrid.net')).toBe('sendgrid')
  expect((await run(['set', 'sendgrid', '--signers', 'sends.example.org'])).code).toBe(0)
  expect(await serviceOf('u1.sendgrid.net')).toBeUndefined()
  expect(await serviceOf('sends.example.org')).toBe('sendgrid')
  expect((await run(['export'])).out.match(/^- key: .*$/gm)).toEqual(['- key: sendgrid'])
  expect((await run(['remove', 'sendgrid'])).out).toContain('no longer recognized')
  expect(await serviceOf('sends.example.org')).toBeUndefined()
  expect(await serviceOf('u1.sendgrid.net')).toBeUndefined()
  expect((await run(['list'])).out).toMatch(/^sendgrid +service +suspended/m)
  expect((await run(['reset', 'sendgrid'])).code).toBe(0)
  expect(await serviceOf('u1.sendgrid.net')).toBe('sendgrid')
  expect((await run(['reset', 'sendgrid'])).code).toBe(1)
})

test('all services can be exported and imported, which replaces none of them', async () => {
  const { out } = await run(['export', '--shipped'])
  const unchanged = `0 added, 0 changed, ${shippedServices.length} unchanged.\n`
  expect((await run(['import', '-'], out)).out).toBe(unchanged)
  expect(await letters.app.rows('select key from marketers')).toEqual([])
})

test('signers reported by several people are proposed, and stay dismissed', async () => {
  await keepReports(letters, 3, 'example.org')
  await keepReports(letters, 2, 'example.net')
  await runProposeMarketers(letters.app)
  const [proposal, ...more] = await listProposals(letters.app.pool, 9)
  expect(more).toEqual([])
  expect(proposal).toMatchObject({
    signer: 'example.org',
    listId: 'news.example.org',
    name: 'The Example Shop',
    messages: 3,
    unsubscribeHost: 'news.example.org',
  })
  expect((await run(['proposals', 'dismiss', 'example.org', 'news.example.org'])).code).toBe(0)
  await runProposeMarketers(letters.app)
  expect(await listProposals(letters.app.pool, 9)).toEqual([])
})

test('an accepted proposal is a draft that is not used until confirmed', async () => {
  await letters.app.pool.query('delete from marketer_proposals')
  await keepReports(letters, 3, 'example.org')
  await runProposeMarketers(letters.app)
  const { out } = await run(['proposals', 'take', 'example.org', 'news.example.org'])
  expect(out).toContain('state: declared')
  const live = await openMarketers(letters.app)
  expect(live.current().count).toBe(shippedServices.length)
  await live.close()
  await runProposeMarketers(letters.app)
  expect(await listProposals(letters.app.pool, 9)).toEqual([])
})
