import { createFileReader, readFilesWith } from '../../src/parsing/files/file-reader.ts'
import { analyzePlainly } from '../../src/pieces/analyze.ts'
import { parseHeader } from '../../src/mail/header.ts'
import { parseBody } from '../../src/mail/message.ts'
import { type Host, linkKinds, withLink } from '../../test/support/link-kinds.ts'
import { printTable, readCorpus } from './corpus.ts'

const readFiles = readFilesWith(createFileReader())
const options = { trustedRelays: [], ignoreStamps: true, readFiles }
const MESSAGES = 150

/**
 * Prints where the links of real messages are, and how many links of each kind the analysis finds
 * that are added to copies of these messages. Fails if it misses one.
 */
export async function benchLinks(): Promise<void> {
  const messages = readCorpus(['phishing', 'newsletters', 'spam', 'ham'])
  const places = new Map<string, { links: number; messages: number }>()
  let without = 0
  for (const raw of messages) {
    const { links } = await analyzePlainly(raw, options)
    if (links.length === 0) without++
    for (const { where } of links) places.getOrInsert(where, { links: 0, messages: 0 }).links++
    for (const where of new Set(links.map((link) => link.where))) {
      places.getOrInsert(where, { links: 0, messages: 0 }).messages++
    }
  }
  console.log(`${messages.length} messages, ${without} of them without a link\n`)
  const found = [...places].toSorted(([, a], [, b]) => b.links - a.links)
  printTable(
    ['place', 'links', 'messages'],
    found.map(([place, count]) => [place, String(count.links), String(count.messages)]),
  )
  console.log('')
  await insertAll(messages)
}

async function insertAll(messages: readonly Buffer[]): Promise<void> {
  const step = Math.ceil(messages.length / MESSAGES)
  const hosts: Host[] = []
  for (const raw of messages.filter((_, index) => index % step === 0)) {
    const header = parseHeader(raw)
    const { text, html } = await parseBody(raw, header)
    const kept = header.fields.filter(({ key }) => /^(?:from|to|subject|date)$/.test(key))
    const lines = kept.map((field) => field.raw.replaceAll(/\s*[\r\n]+\s*/g, ' '))
    hosts.push({ header: lines.join('\n'), text, html })
  }
  const rows: string[][] = []
  for (const kind of linkKinds) {
    let found = 0
    for (const [index, host] of hosts.entries()) {
      const name = `added-${index}.com`
      const raw = withLink(host, kind, `https://${name}/x`)
      const { links } = await analyzePlainly(raw, options)
      if (links.some((link) => link.where === kind.where && link.domain === name)) found++
    }
    rows.push([kind.name, kind.where, String(hosts.length), String(found)])
    if (found < hosts.length) process.exitCode = 1
  }
  printTable(['added to copies', 'place', 'added', 'found'], rows)
}
