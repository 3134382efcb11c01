import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { buffer } from 'node:stream/consumers'
import { validateManifest } from 'office-addin-manifest'
import { expect, test } from 'vitest'
import { fromBufferPromise } from 'yauzl'
import { buildOutlook } from '../../../src/web/reporting/outlook.ts'
import { closeAfterTests, makeTestFolder } from '../../support/after-tests.ts'
import { startWebSite } from './web-site.ts'

const server = 'https://spam.example'
const site = await closeAfterTests(startWebSite({ PUBLIC_URL: server }))
const files = await unpack(await fetch(`${site.url}/outlook/signalpost-outlook.zip`))
const folder = await makeTestFolder()
const manifest = JSON.parse(files.get('manifest.json')?.toString() ?? '') as {
  validDomains: string[]
}

async function unpack(response: Response): Promise<Map<string, Buffer>> {
  expect(response.headers.get('content-type')).toBe('application/zip')
  return unzip(Buffer.from(await response.arrayBuffer()))
}

async function unzip(bytes: Buffer): Promise<Map<string, Buffer>> {
  const zip = await fromBufferPromise(bytes)
  const found = new Map<string, Buffer>()
  for await (const entry of zip.eachEntry()) {
    found.set(entry.fileName, await buffer(await zip.openReadStreamPromise(entry)))
  }
  return found
}

test('the manifest is valid, and for this service', async () => {
  const long = `https://${'a'.repeat(50)}.example`
  for (const content of [files, await unzip(await buildOutlook(long))]) {
    const file = path.join(folder, 'manifest.json')
    await writeFile(file, content.get('manifest.json') ?? '')
    const { isValid, report } = await validateManifest(file)
    expect([isValid, report]).toEqual([true, undefined])
  }
  expect(manifest.validDomains).toEqual(['spam.example'])
  expect(JSON.stringify(manifest)).not.toMatch(/\{\w+\}/)
})

test('every address and file in the manifest is there', async () => {
  const addresses = JSON.stringify(manifest).match(/https:\/\/spam\.example[^"]*/g) ?? []
  expect(addresses).toContain(`${server}/outlook/report.js`)
  for (const address of new Set(addresses)) {
    const response = await fetch(site.url + address.slice(server.length))
    expect([address, response.status]).toEqual([address, 200])
  }
  for (const name of ['color.png', 'outline.png', 'fr.json', 'ru.json']) {
    expect(files.get(name)?.length).toBeGreaterThan(200)
  }
})

test.for(['fr.json', 'ru.json'])('%s translates every text of the manifest', (name) => {
  const translated = JSON.parse(files.get(name)?.toString() ?? '') as Record<string, string>
  const { $schema, ...texts } = translated
  expect($schema).toMatch(/Localization/)
  for (const [address, text] of Object.entries(texts)) {
    const english = at(manifest, address)
    expect([address, typeof english]).toEqual([address, 'string'])
    const most = address.endsWith('description') ? (address.startsWith('ext') ? 250 : 80) : 64
    const limit = { 'description.full': 4_000 }[address] ?? most
    const isDialog = /Dialog\.(?:title|spam)/.test(address)
    expect([address, text.length <= (isDialog ? 128 : limit)]).toEqual([address, true])
  }
  const said = JSON.stringify(manifest).match(/"(?:label|title|description)":"/g)?.length ?? 0
  expect(Object.keys(texts).length).toBeGreaterThanOrEqual(said - 1)
})

/** Returns the value at a path such as `a.b[0].c`. */
function at(value: unknown, address: string): unknown {
  return address
    .split(/[.[\]]+/)
    .filter(Boolean)
    .reduce<unknown>((inner, name) => (inner as Record<string, unknown>)?.[name], value)
}

test('only pages of Outlook may show the settings, and they load only its library', async () => {
  const response = await fetch(`${site.url}/outlook/settings.html`)
  const policy = response.headers.get('content-security-policy')
  expect(policy).toContain("script-src 'self' https://appsforoffice.microsoft.com;")
  expect(policy).toContain('frame-ancestors https://outlook.office.com ')
  expect(response.headers.get('set-cookie')).toBeNull()
})

test('the event script may ask this service from Outlook for Windows', async () => {
  const list = await fetch(`${site.url}/.well-known/microsoft-officeaddins-allowed.json`)
  expect(await list.json()).toEqual({ allowed: [`${server}/outlook/report.js`] })
  const script = await (await fetch(`${site.url}/outlook/report.js`)).text()
  expect(script).toContain(`const SERVER = '${server}'`)
  // The syntax that Outlook for Windows runs: neither newer syntax nor modules.
  expect(script).not.toMatch(/\?\?|\?\.|^(?:import|export)\b|\basync\b|\bawait\b/m)
})

test('without an https address there is no package', async () => {
  const plain = await closeAfterTests(startWebSite())
  const response = await fetch(`${plain.url}/outlook/signalpost-outlook.zip`)
  expect(response.status).toBe(404)
  expect(await (await fetch(`${plain.url}/outlook`)).text()).toContain('Outlook only accepts')
})

test('the add-on for Thunderbird knows the address of this service', async () => {
  const response = await fetch(`${site.url}/thunderbird/signalpost-thunderbird.xpi`)
  expect(response.headers.get('content-type')).toBe('application/x-xpinstall')
  const addOn = await unzip(Buffer.from(await response.arrayBuffer()))
  expect(addOn.get('settings.js')?.toString()).toContain(`server: "${server}"`)
  // The address is put in nowhere else.
  expect(addOn.get('service.js')?.toString()).toContain('`${server}/reports/${id}`')
})
