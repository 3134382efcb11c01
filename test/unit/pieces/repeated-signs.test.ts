import { expect, test } from 'vitest'
import { analyzeForCounting } from '../../../src/pieces/analyze.ts'
import { expectEffort } from '../../support/effort.ts'

const fields = 'From: a@shop.example\r\nSubject: x\r\n'
const shown = 'https://seen.example/'

function page(content: string): string {
  return `${fields}Content-Type: text/html\r\n\r\n<a href="${shown}">x</a>${content}`
}

function text(content: string): string {
  return `${fields}Content-Type: text/plain\r\n\r\nSee ${shown} \r\n${content}`
}

function field(written: string): string {
  return `${written}\r\n${text('x')}`
}

const linked = (count: number) =>
  Array.from({ length: count }, (_, at) => `http://h\u00e9${at}.example.com `).join('')
const disguised = Array.from({ length: 200 }, (_, at) => ` evil${at}[.]example.com/x `).join('')
const remark = `(${'@'.repeat(990)}) `

/** Each would take many seconds if a step of the analysis began anew at each sign. */
const written = {
  'digits of a refresh': page(`<meta http-equiv=refresh content="${'0'.repeat(60_000)}x">`),
  'commas in a srcset': page(`<img srcset="${','.repeat(90_000)}">`),
  'commas in an address of a srcset': page(`<img srcset="a${','.repeat(90_000)}x">`),
  'comments before one with an unusual end': page(`${'<!--x-->'.repeat(60_000)}<!--y--!>`),
  'closing brackets after an address': text(`http://a.example/${')'.repeat(1_900)} `.repeat(500)),
  'addresses beside disguised ones': text(disguised + linked(1_000)),
  'commas after an address to unsubscribe': field(
    `List-Unsubscribe: http:${','.repeat(32_000)}x\r\n`.repeat(10).trim(),
  ),
  'at signs in remarks of relays': field(
    `Received: from a by b with SMTP id c ${remark.repeat(60)}; x\r\n`.repeat(10).trim(),
  ),
}

test.for(Object.entries(written))('repeated signs take linear time: %s', async ([, mail]) => {
  const options = { trustedRelays: [], ignoreStamps: false }
  const raw = Buffer.from(mail)
  const { analysis } = await expectEffort(() => analyzeForCounting(raw, options), 150)
  expect(analysis.links.map(({ url }) => url)).toContain(shown)
})

test('dots after addresses take linear time if only the links are read', async () => {
  const raw = Buffer.from(text(`https://a.example/${'.'.repeat(1_900)}x `.repeat(500)))
  const options = { trustedRelays: [], ignoreStamps: false, isReduced: true }
  await expectEffort(() => analyzeForCounting(raw, options), 150)
})
