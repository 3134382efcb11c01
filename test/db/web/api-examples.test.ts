import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { apiOperations } from '../../../src/web/api/contract/document.ts'
import { composeExamples, shownPrograms } from '../../../src/web/docs/docs-routes.ts'
import { shownWebhookKey, webhookHeaders } from '../../../src/mail/webhook-message.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { askForAll, mayChange, startExampleSite } from '../../support/contract/example-site.ts'
import { runProgram, saidIn, startJavaScript } from '../../support/contract/run-example.ts'
import { Browser } from './browser.ts'
import { sampleMessage } from './web-site.ts'

const shown = await closeAfterTests(startExampleSite())
const person = await shown.addPerson()

const isKnown = (status: number, answers: object) => String(status) in answers

test('the JavaScript example of every operation runs unchanged', async () => {
  const who = await shown.addPerson()
  const isAllowed = await mayChange(shown.site, who)
  const javaScript = startJavaScript({ folder: shown.folder, person: who, ...shown.desk })
  onTestFinished(javaScript.close)
  await askForAll(shown.site.url, shown.desk, async (operation, values) => {
    if (operation.need === 'account' && !isAllowed) return { status: 403, text: '' }
    const { javascript } = composeExamples(operation, values)
    const said = saidIn(await javaScript.run(javascript))
    expect([operation.id, isKnown(said.status, operation.answers), said.text]).toEqual([
      operation.id,
      true,
      said.text,
    ])
    return said
  })
})

test('the curl example of every operation runs unchanged', async () => {
  const who = await shown.addPerson()
  const isAllowed = await mayChange(shown.site, who)
  await askForAll(shown.site.url, shown.desk, async (operation, values) => {
    if (operation.need === 'account' && !isAllowed) return { status: 403, text: '' }
    const { curl } = composeExamples(operation, values)
    // This option makes curl print the status, so it is added to the example's command.
    const told = curl.replace('curl ', `curl --write-out '\\n%{http_code}' `)
    const out = await runProgram(['sh', '-c', told], {
      folder: shown.folder,
      person: who,
      ...shown.desk,
    })
    const at = out.lastIndexOf('\n')
    const said = { status: Number(out.slice(at + 1)), text: out.slice(0, at) }
    expect([operation.id, isKnown(said.status, operation.answers), said.text]).toEqual([
      operation.id,
      true,
      said.text,
    ])
    return said
  })
})

test('examples contain nothing that ends a string early', () => {
  for (const operation of apiOperations) {
    const { body, headers = {} } = operation.example
    expect(JSON.stringify([body, headers])).not.toMatch(/['\\`$]/)
  }
})

async function withPrograms<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(path.join(tmpdir(), 'signalpost-programs-'))
  for (const [name, text] of Object.entries(shownPrograms)) {
    await writeFile(path.join(folder, name.replace('.js', '.mjs')), text)
  }
  return use(folder).finally(() => rm(folder, { recursive: true }))
}

test('the web mail plug-in of the reference reports, and gets the same answer twice', async () => {
  await withPrograms(async (folder) => {
    const source = sampleMessage('plug-in').toString()
    await writeFile(path.join(folder, 'source.txt'), source)
    const text = `
      import { readFileSync } from 'node:fs'
      import { reportMessage } from './web-mail-plug-in.mjs'
      const source = readFileSync('source.txt', 'utf8')
      const report = () => reportMessage('${shown.site.url}', process.env.TOKEN, source, 'phishing')
      const failing = reportMessage('${shown.site.url}', 'wrong', source)
      const wrong = failing.catch((error) => error.message)
      console.log(JSON.stringify([await report(), await report(), await wrong]))`
    const command = [process.execPath, '--input-type=module', '-e', text] as const
    const [first, second, wrong] = JSON.parse(await runProgram(command, { folder, person })) as [
      string,
      string,
      string,
    ]
    expect(first).toMatch(/\/api\/v1\/reports\/[0-9a-f-]{36}$/)
    expect(second).toBe(first)
    expect(wrong).toBe('These credentials are not valid.')
  })
})

test('the verification code of the reference accepts our webhooks, and nothing else', async () => {
  const key = Buffer.alloc(32, 3)
  const [id, body] = ['msg_1', '{"type":"webhook.test"}']
  const timestamp = Math.floor(Date.now() / 1_000)
  const signed = (at: number, keys: readonly Buffer[]) =>
    webhookHeaders({ url: '', id, timestamp: at, body, keys })
  const other = Buffer.alloc(32, 4)
  const cases = [
    [signed(timestamp, [key]), body],
    [signed(timestamp, [other, key]), body],
    [signed(timestamp, [other]), body],
    [signed(timestamp, [key]), `${body} `],
    [signed(timestamp - 400, [key]), body],
    [{ ...signed(timestamp, [key]), 'webhook-signature': 'v1, v2,x v1,' }, body],
  ]
  await withPrograms(async (folder) => {
    const text = `
      import { isFromSignalpost } from './verify-webhook.mjs'
      const [secret, cases] = ${JSON.stringify([shownWebhookKey(key), cases])}
      const said = cases.map(([headers, body]) => isFromSignalpost(headers, body, secret))
      console.log(JSON.stringify(said))`
    const command = [process.execPath, '--input-type=module', '-e', text] as const
    const said = JSON.parse(await runProgram(command, { folder, person })) as boolean[]
    expect(said).toEqual([true, true, false, false, false, false])
  })
})

test('the reference is complete, in English, without scripts of its own', async () => {
  const answer = await new Browser(shown.site.url, { 'accept-language': 'fr' }).get('/docs')
  expect([answer.status, answer.headers.get('content-language')]).toEqual([200, 'en'])
  const html = await answer.text()
  for (const { id, path: address } of apiOperations) {
    expect(html).toContain(`<section id="${id}"`)
    expect(html).toContain(address)
  }
  expect(html).toContain('href="/problems#key-used"')
  const links = [...html.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id)
  for (const id of links) expect(html).toContain(`id="${id}"`)
  expect(html).not.toMatch(/<script(?! src="\/assets\/)|style=|http[^"]*cdn/)
  expect(html).not.toMatch(/undefined|\[object/)
})
