import { z } from 'zod'
import { parseIp } from '../../mail/ip.ts'
import { parseBlock } from '../../mail/ip-blocks.ts'
import { storableText } from '../../mail/storable-text.ts'
import { type Marketer, marketerBounds, marketerStates } from './marketer.ts'

const bounds = marketerBounds
const nameShape = /^(?:\*\.)?[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_-]{1,63})+$/
const listIdShape = /^(?:\*\.)?[^\s<>*,]{1,250}$/
const addressShape = /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9.-]{1,185}$/

const domainName = z
  .string()
  .trim()
  .toLowerCase()
  .max(255)
  .regex(nameShape, 'This is no domain name; "*.example.org" stands for all names below one.')

const listId = z
  .string()
  .trim()
  .toLowerCase()
  .transform((text) => text.replace(/^<(.*)>$/, '$1'))
  .pipe(z.string().regex(listIdShape, 'This is no List-Id, as "news.example.org" is one.'))

const range = z
  .string()
  .trim()
  .max(64)
  .transform((text, context) => {
    const block = parseBlock(text)
    const start = block && parseIp(block.slice(0, block.indexOf('/')))
    if (block !== undefined && start) return `${start.text}${block.slice(block.indexOf('/'))}`
    context.addIssue('This is no range of addresses, as 192.0.2.0/24 is one.')
    return z.NEVER
  })

const address = z
  .string()
  .trim()
  .max(bounds.addressCharsMax)
  .regex(addressShape, 'This is no mail address.')

const website = z
  .string()
  .trim()
  .max(bounds.urlCharsMax)
  .refine(isWebsite, 'This is no link to a website, as https://example.org/ is one.')

/** Lines of plain text; what a terminal or a mail program might obey is left out. */
function lines(charsMax: number) {
  return z
    .string()
    .max(charsMax, `This has ${charsMax} characters at most.`)
    .transform((text) =>
      text
        .split(/\r\n?|\n/)
        .map((line) => storableText(line, charsMax).trimEnd())
        .join('\n')
        .trim(),
    )
}

const advice = z
  .strictObject({
    en: lines(bounds.adviceCharsMax),
    fr: lines(bounds.adviceCharsMax),
    ru: lines(bounds.adviceCharsMax),
  })
  .partial()

/** One marketer as a file has it. */
export const marketerSchema = z
  .strictObject({
    key: z
      .string()
      .max(bounds.keyCharsMax)
      .regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/, 'A key has small letters, digits and "-".'),
    name: z.string().trim().min(1).max(bounds.nameCharsMax).transform(storableLine),
    state: z.enum(marketerStates).default('declared'),
    signers: unique(domainName, bounds.signersMax),
    ranges: unique(range, bounds.rangesMax),
    list_ids: unique(listId, bounds.listIdsMax),
    authors: unique(domainName, bounds.authorsMax),
    practice: lines(bounds.practiceCharsMax).default(''),
    website: website.nullable().default(null),
    advice: advice.default({}),
    contact: address.nullable().default(null),
    feedback: address.nullable().default(null),
  })
  .transform(({ list_ids: listIds, advice: said, ...rest }): Marketer => {
    const texts = Object.entries(said).filter(([, text]) => text !== '')
    return { ...rest, listIds, advice: Object.fromEntries(texts) }
  })

function unique<Schema extends z.ZodType<string>>(schema: Schema, most: number) {
  return z
    .array(schema)
    .max(most, `There are ${most} at most.`)
    .default([])
    .transform((names) => [...new Set(names)])
}

function storableLine(text: string): string {
  return storableText(text.replaceAll(/\s+/g, ' '), bounds.nameCharsMax)
}

function isWebsite(text: string): boolean {
  const url = URL.parse(text)
  const isPlain = url?.username === '' && url.password === ''
  return isPlain && (url.protocol === 'https:' || url.protocol === 'http:') && !/\s/.test(text)
}
