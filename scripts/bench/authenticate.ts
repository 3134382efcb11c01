import { authenticate as authenticateByLibrary } from 'mailauth'
import { analyzePlainly } from '../../src/pieces/analyze.ts'
import { askAbout } from '../../src/origin/authenticity/ask-dns.ts'
import type { DnsFindings } from '../../src/origin/authenticity/dns-findings.ts'
import type { Resolve } from '../../src/world.ts'
import { deadDns, fakeDns, rsaKey, sealed, signed } from '../../test/support/signing.ts'
import { printTable } from './corpus.ts'

const ROUNDS = 15
const MESSAGES = 200
const BODY_BYTES = 18_500

const key = rsaKey()
const otherKey = rsaKey()
const zone = {
  'TXT s1._domainkey.shop.example': [key.record],
  'TXT s1._domainkey.bulk.example': [otherKey.record],
  'TXT arc._domainkey.alumni.example': [otherKey.record],
  'TXT _dmarc.shop.example': ['v=DMARC1; p=reject'],
  'TXT bulk.example': ['v=spf1 include:pool.bulk.example -all'],
  'TXT pool.bulk.example': ['v=spf1 ip4:198.51.100.0/24 -all'],
}
const options = { trustedRelays: [], ignoreStamps: false }
const signal = new AbortController().signal

type Case = { name: string; work: () => Promise<void> }

/**
 * Measures the cost of authentication beside the analysis without it. The messages of 20 KB are
 * signed here; DNS answers come from a map, so the network costs nothing. The cases alternate in
 * every round, and the best round counts, because other programs can only add time.
 */
export async function benchAuthenticate(): Promise<void> {
  const plain = Array.from({ length: MESSAGES }, (_, number) => message(number))
  const byAuthor = await Promise.all(
    plain.map((raw) => signed(raw, { domain: 'shop.example', key })),
  )
  const byBoth = await Promise.all(
    byAuthor.map((raw) => signed(raw, { domain: 'bulk.example', key: otherKey })),
  )
  const says = 'mx.alumni.example; spf=pass (sender ip is 198.51.100.23)'
  const bySealer = await Promise.all(
    byBoth.map((raw) => sealed(raw, { domain: 'alumni.example', key: otherKey, says })),
  )
  const { resolve } = fakeDns(zone)
  const cases = [
    analysis('the analysis alone', bySealer, await told(bySealer, undefined)),
    analysis('with SPF and DMARC, no signature', plain, await told(plain, resolve)),
    analysis('with the author’s DKIM signature', byAuthor, await told(byAuthor, resolve)),
    analysis('with two DKIM signatures', byBoth, await told(byBoth, resolve)),
    analysis('with all: an ARC set too', bySealer, await told(bySealer, resolve)),
    analysis('with all, and a dead DNS', bySealer, await told(bySealer, deadDns)),
    each('questions and answers, before it', bySealer, (raw) =>
      askAbout(raw, options, { resolve, listings }, signal),
    ),
    each('the analysis, then mailauth’s authenticate', bySealer, async (raw) => {
      await analyzePlainly(raw, options)
      await authenticateByLibrary(raw, { resolver: asLibrary(resolve), ...delivery })
    }),
  ]
  await report(cases)
}

const listings = () => Promise.resolve([])
const delivery = {
  ip: '198.51.100.23',
  helo: 'mail.bulk.example',
  sender: 'bounce@bulk.example',
  mta: 'mx.provider.example',
  disableBimi: true,
}

function message(number: number): Buffer {
  const rows: string[] = []
  for (let bytes = 0, row = 0; bytes < BODY_BYTES; row++) {
    const price = (number * 7 + row * 13) % 1000
    rows.push(
      `  <tr><td class="item">Offer ${number}-${row}</td>`,
      `\t<td><a href="https://shop.example/${number}/${row}">Only  ${price} today</a></td></tr> `,
    )
    bytes += rows.slice(-2).join('\r\n').length + 4
  }
  return Buffer.from(
    [
      'Return-Path: <bounce@bulk.example>',
      'Received: from mail.bulk.example (mail.bulk.example [198.51.100.23])',
      ' by mx.provider.example (Postfix) with ESMTPS id 4ABC',
      ' for <you@provider.example>; Mon, 16 Nov 2026 10:00:00 +0000',
      'Received: from web-7 (web-7.bulk.example [10.0.0.7])',
      ' by mail.bulk.example (Postfix) with ESMTP id 4ABB;',
      ' Mon, 16 Nov 2026 09:59:59 +0000',
      'From: "Great Offers" <offers@shop.example>',
      'To: you@provider.example',
      `Subject: Cheap watches ${number}`,
      'Date: Mon, 16 Nov 2026 09:59:57 +0000',
      `Message-ID: <${number}@shop.example>`,
      'List-Unsubscribe: <https://shop.example/leave>',
      'MIME-Version: 1.0',
      'Content-Type: text/html; charset=utf-8',
      '',
      '<html><body><table>',
      ...rows,
      '</table></body></html>',
      '',
    ].join('\r\n'),
  )
}

/** The DNS answers for each message; undefined without DNS queries. */
function told(
  messages: readonly Buffer[],
  resolve: Resolve | undefined,
): Promise<(DnsFindings | undefined)[]> {
  return Promise.all(
    messages.map((raw) => resolve && askAbout(raw, options, { resolve, listings }, signal)),
  )
}

function analysis(
  name: string,
  messages: readonly Buffer[],
  findings: readonly (DnsFindings | undefined)[],
): Case {
  let at = 0
  return each(name, messages, (raw) => {
    const dns = findings[at++ % findings.length]
    return analyzePlainly(raw, dns ? { ...options, dns } : options)
  })
}

function each(
  name: string,
  messages: readonly Buffer[],
  work: (raw: Buffer) => Promise<unknown>,
): Case {
  return {
    name,
    work: async () => {
      for (const raw of messages) await work(raw)
    },
  }
}

function asLibrary(resolve: Resolve) {
  return async (name: string, type: string): Promise<string[][]> => {
    const answer = await resolve(name, type as 'TXT')
    if (answer.is === 'found') return answer.records.map((record) => [record])
    throw Object.assign(new Error('ENOTFOUND'), { code: 'ENOTFOUND' })
  }
}

async function report(cases: readonly Case[]): Promise<void> {
  const costs = cases.map(() => [] as number[])
  for (const { work } of cases) await work()
  for (let round = 0; round < ROUNDS; round++) {
    for (const [index, { work }] of cases.entries()) {
      const start = process.cpuUsage()
      await work()
      const { user, system } = process.cpuUsage(start)
      costs[index]?.push((user + system) / MESSAGES)
    }
    console.log(`round ${round + 1} of ${ROUNDS}`)
  }
  const best = costs.map((each) => Math.min(...each))
  const alone = best[0] ?? Number.NaN
  printTable(
    ['bench authenticate', 'CPU per message', 'ratio'],
    cases.map(({ name }, index) => {
      const cost = best[index] ?? Number.NaN
      return [name, `${Math.round(cost)} µs`, (cost / alone).toFixed(2)]
    }),
  )
}
