import { expect, test } from 'vitest'
import { readConfig } from '../../../src/config.ts'
import { runContact } from '../../../src/processes/ask-for-contact.ts'
import { closeAfterThisTest } from '../../support/after-tests.ts'
import { entity } from '../../support/rdap-answers.ts'
import { startRdapServer } from '../../support/rdap-server.ts'

const url = 'https://a8Fk2pQz91x.phish-of-a-test.com/login'

async function place() {
  const server = await closeAfterThisTest(startRdapServer())
  const env = { DNS_SERVERS: 'none', RDAP_BOOTSTRAP_URL: server.bootstrapUrl }
  const lines: string[] = []
  const add = (line: string) => void lines.push(line)
  const config = readConfig(env, { cores: 1, cwd: '/nowhere' })
  const run = (...args: string[]) => runContact(args, config, { print: add, complain: add })
  return { server, lines, run }
}

test('prints who can stop a page, and asks about its domain only', async () => {
  const { server, lines, run } = await place()
  const registrar = entity('1', ['registrar'], [], {
    entities: [entity('2', ['abuse'], ['abuse@registrar.example'])],
  })
  server.reply('domain/phish-of-a-test.com', {
    body: { objectClassName: 'domain', ldhName: 'phish-of-a-test.com', entities: [registrar] },
  })
  expect(await run(url)).toBe(true)
  expect(lines).toEqual([
    'page        a8fk2pqz91x.phish-of-a-test.com',
    'registrar   unknown registrar: abuse@registrar.example',
  ])
  expect(server.asked).toEqual(['domain/phish-of-a-test.com'])
})

test('says why nobody is known', async () => {
  const { lines, run } = await place()
  expect(await run(url)).toBe(false)
  expect(lines.at(-1)).toBe('Nobody who can stop the page is known.')
})

test.for([
  ['https://www.paypal.com/signin', 'Nobody is notified about this page: known site.'],
  ['page.example', 'with one URL'],
])('refuses %s', async ([given = '', why]) => {
  const { server, run } = await place()
  await expect(run(given)).rejects.toThrow(why)
  expect(server.asked).toEqual([])
})
