import { request } from 'node:http'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { closeAfterTests } from '../../support/after-tests.ts'
import { signedInBrowser } from './browser.ts'
import { startWebSite } from './web-site.ts'

const site = await closeAfterTests(startWebSite())
const ann = await site.addPerson('ann@people.example')

type Answer = { encoding: string | undefined; vary: string | undefined; body: Buffer }

/** Requests a path without decoding the answer. */
function get(path: string, acceptEncoding?: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = acceptEncoding === undefined ? {} : { 'accept-encoding': acceptEncoding }
    const asked = request(`${site.url}${path}`, { headers }, (answer) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk))
      answer.on('end', () => {
        const { 'content-encoding': encoding, vary } = answer.headers
        resolve({ encoding, vary, body: Buffer.concat(chunks) })
      })
    })
    asked.on('error', reject).end()
  })
}

const style = async () =>
  /href="(\/assets\/\w+\/pico\.css)"/.exec((await get('/sign-in')).body.toString())?.[1] ?? ''

test.for([
  ['a page', () => Promise.resolve('/sign-in')],
  ['a style sheet', style],
  ['the contract', () => Promise.resolve('/openapi.json')],
] as const)('%s is sent in the encoding that the client accepts', async ([, pathOf]) => {
  const path = await pathOf()
  const plain = await get(path)
  expect(plain.encoding).toBeUndefined()
  for (const [accepted, used, decode] of [
    ['gzip, deflate, br, zstd', 'br', brotliDecompressSync],
    ['gzip', 'gzip', gunzipSync],
    ['br;q=0, gzip;q=0.5', 'gzip', gunzipSync],
    ['deflate', undefined, (body: Buffer) => body],
  ] as const) {
    const { encoding, vary, body } = await get(path, accepted)
    expect(encoding).toBe(used)
    expect(vary).toContain('Accept-Encoding')
    expect(decode(body).equals(plain.body)).toBe(true)
    if (used !== undefined) expect(body.length).toBeLessThan(plain.body.length / 2)
  }
})

test('the token of a form differs in each page, and each of them is valid', async () => {
  const browser = await signedInBrowser(site.url, ann)
  const tokenIn = async () => {
    const page = await (await browser.get('/settings')).text()
    return /name="form_token" value="([\w-]+)"/.exec(page)?.[1] ?? ''
  }
  const save = async (form_token: string) => {
    const body = new URLSearchParams({ form_token, do: 'save', language: 'en' })
    const headers = { cookie: browser.cookies() }
    const form = { method: 'POST', body, headers, redirect: 'manual' } as const
    return (await fetch(`${site.url}/settings`, form)).status
  }
  const [one, other] = [await tokenIn(), await tokenIn()]
  expect(one).toHaveLength(86)
  expect(other).not.toBe(one)
  expect(await Promise.all([one, other, one].map(save))).toEqual([303, 303, 303])
  const changed = (one.startsWith('A') ? 'B' : 'A') + one.slice(1)
  const bad = [changed, '', 'x', `${one}${one}`, one.slice(0, 43), 'A'.repeat(86)]
  expect(await Promise.all(bad.map(save))).toEqual(bad.map(() => 403))
})
