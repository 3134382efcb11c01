import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { analyzeMessage } from '../../../src/pieces/analyze.ts'

const folder = path.join(import.meta.dirname, '../../fixtures/messages')
const names = readdirSync(folder)
  .filter((file) => file.endsWith('.eml'))
  .map((file) => path.basename(file, '.eml'))

test.for(names)('the message %s has the expected origin', async (name) => {
  const raw = readFileSync(path.join(folder, `${name}.eml`))
  const expected: unknown = JSON.parse(
    readFileSync(path.join(folder, `${name}.expected.json`), 'utf8'),
  )
  const { origin, hops, links } = await analyzeMessage(raw, {
    trustedRelays: [],
    ignoreStamps: true,
  })
  expect({
    origin: origin && { ip: origin.ip, hop: origin.hop, confidence: origin.confidence },
    trust: hops.map(({ trust }) => trust),
    links: links.map(({ url }) => url),
  }).toEqual(expected)
})
