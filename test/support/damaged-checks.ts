import { parseHeader } from '../../src/mail/header.ts'
import { parseBody } from '../../src/mail/message-body.ts'
import { analyzeForCounting } from '../../src/pieces/analyze.ts'
import {
  damagesOf,
  fullSample,
  oddValues,
  type PartField,
  partFieldsIn,
  shownIn,
  withRepeated,
  withValue,
} from './damaged-parts.ts'

type Text = keyof typeof shownIn

/** Throws unless the whole message is analyzed, and PostgreSQL can store the result. */
export async function expectFullAnalysis(raw: Buffer): Promise<void> {
  const { analysis } = await analyzeForCounting(raw, { trustedRelays: [], ignoreStamps: false })
  if (analysis.isReduced) throw new Error('The analysis is reduced.')
  if (/\\u0000|\\ud[89a-f]/i.test(JSON.stringify(analysis))) throw new Error('Not storable.')
}

/** Returns the texts of the sample whose words and link are found in a message. */
export async function textsFound(raw: Buffer): Promise<Text[]> {
  const { text, html } = await parseBody(raw, parseHeader(raw))
  const { analysis } = await analyzeForCounting(raw, { trustedRelays: [], ignoreStamps: false })
  if (analysis.isReduced) throw new Error('The analysis is reduced.')
  const links = analysis.links.map(({ url }) => url).join(' ')
  return (['plain', 'page'] as const).filter((one) => {
    const { word, link } = shownIn[one]
    return (text + html).includes(word) && links.includes(link)
  })
}

/** The part of the sample that a field belongs to. */
function ownerOf({ start }: PartField): 'root' | 'alternative' | Text | 'other' {
  const starts = [...fullSample.matchAll(/^--(?:outer|inner)=_\d(?=\r)/gm)].map(
    ({ index }) => index,
  )
  const owners = ['alternative', 'plain', 'page'] as const
  const before = starts.filter((at) => at < start).length
  return before === 0 ? 'root' : (owners[before - 1] ?? 'other')
}

const validType = /^[\s"'<>;,:=]*([^\s;,:"()/=]+)\s*\/+\s*[^\s;,:"()/=]+/

/** The texts that mail programs show when a field of a part has a damaged value. */
function textsExpected(field: PartField, written: string): Text[] {
  const value = written.replaceAll(/[\0-\x08\x0e-\x1f\x7f]|\([^()]*\)/g, '')
  const owner = ownerOf(field)
  const others = (['plain', 'page'] as const).filter((one) => one !== owner)
  if (owner === 'other') return others
  const top = validType.exec(value)?.[1]?.toLowerCase()
  const isFile = /name/i.test(value) || (top !== undefined && top !== 'text')
  if (owner === 'root' || owner === 'alternative') {
    if (field.name !== 'content-type' || top === 'multipart') return others
    return isFile ? [] : ['plain']
  }
  const all = [...others, owner]
  if (field.name === 'content-type') return isFile ? others : all
  if (field.name === 'content-disposition') return /attach|name/i.test(value) ? others : all
  if (field.name !== 'content-transfer-encoding') return all
  return owner === 'page' || /base64/i.test(value) ? others : all
}

/**
 * Damages each field of the sample in each way, of those that `isChosen` selects by their number.
 * Returns what is wrong.
 */
export async function checkEveryDamage(isChosen: (number: number) => boolean): Promise<string[]> {
  const wrong: string[] = []
  let number = 0
  const check = async (name: string, raw: string, expected: readonly Text[]) => {
    if (!isChosen(number++)) return
    try {
      const found = await textsFound(Buffer.from(raw, 'latin1'))
      const missing = expected.filter((one) => !found.includes(one))
      if (missing.length > 0) wrong.push(`${name}: ${missing.join()} not shown`)
    } catch (error) {
      wrong.push(`${name}: ${String(error)}`)
    }
  }
  for (const field of partFieldsIn(fullSample)) {
    const name = `${ownerOf(field)} ${field.name}`
    for (const damage of damagesOf(field.value)) {
      const value = damage.apply(field.value)
      const expected = textsExpected(field, value)
      await check(`${name} ${damage.name}`, withValue(fullSample, field, value), expected)
    }
    for (const odd of oddValues) {
      const others = textsExpected(field, odd)
      const first = withRepeated(fullSample, field, odd, true)
      await check(`${name} behind ${JSON.stringify(odd)}`, first, others)
      const expected = textsExpected(field, field.value)
      const second = withRepeated(fullSample, field, odd, false)
      await check(`${name} before ${JSON.stringify(odd)}`, second, expected)
    }
  }
  return wrong
}
