import {
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type ParsedNode,
  parseDocument,
  stringify,
  visit,
} from 'yaml'
import { z } from 'zod'
import { firstAddress, parseBlock, prefixLength } from '../../mail/ip-blocks.ts'
import { storableText } from '../../mail/text.ts'
import { refusal, refusalOfIssue } from '../../phrase.ts'
import type { OwnNames } from '../lists/spare.ts'
import services from './services.json' with { type: 'json' }
import {
  type Marketer,
  marketerBounds,
  marketerKinds,
  marketerStates,
  marksFaults,
  writtenMarketer,
} from './marketer.ts'

const bounds = marketerBounds
const nameShape = /^(?:\*\.)?[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_-]{1,63})+$/
const listIdShape = /^(?:\*\.)?[^\s<>*,]{1,250}$/
const addressShape = /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9.-]{1,185}$/

const domainName = z
  .string()
  .trim()
  .toLowerCase()
  .max(255)
  .regex(nameShape, refusal('refused.domain-name'))

const listId = z
  .string()
  .trim()
  .toLowerCase()
  .transform((text) => text.replace(/^<(.*)>$/, '$1'))
  .pipe(z.string().regex(listIdShape, refusal('refused.list-id')))

const range = z
  .string()
  .trim()
  .max(64)
  .transform((text, context) => {
    const block = parseBlock(text)
    const start = block && firstAddress(block)
    if (block !== undefined && start) return `${start.text}/${prefixLength(block)}`
    context.addIssue(refusal('refused.range'))
    return z.NEVER
  })

const address = z
  .string()
  .trim()
  .max(bounds.addressCharsMax)
  .regex(addressShape, refusal('refused.email'))

const website = z
  .string()
  .trim()
  .max(bounds.urlCharsMax)
  .refine(isWebsite, refusal('refused.website'))

/**
 * Schema for lines of plain text, without the control characters that a terminal or mail program
 * might interpret.
 */
function lines(charsMax: number) {
  return z
    .string()
    .max(charsMax, refusal('refused.too-long', { max: charsMax }))
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

const pageAndDay = z.record(
  website,
  z.iso.date('Give the day on which the page was read, such as 2026-11-23.'),
)

const marketerSchema = z
  .strictObject({
    key: z
      .string()
      .max(bounds.keyCharsMax)
      .regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/, refusal('refused.key-shape')),
    kind: z.enum(marketerKinds).default('marketer'),
    name: z.string().trim().min(1).max(bounds.nameCharsMax).transform(storableLine),
    state: z.enum(marketerStates).default('declared'),
    signers: unique(domainName, bounds.signersMax),
    ranges: unique(range, bounds.rangesMax),
    list_ids: unique(listId, bounds.listIdsMax),
    authors: unique(domainName, bounds.authorsMax),
    hosts: unique(domainName, bounds.hostsMax),
    practice: lines(bounds.practiceCharsMax).default(''),
    website: website.nullable().default(null),
    advice: advice.default({}),
    contact: address.nullable().default(null),
    feedback: address.nullable().default(null),
    sources: pageAndDay
      .refine((pages) => Object.keys(pages).length <= bounds.sourcesMax, {
        error: `Enter at most ${bounds.sourcesMax}.`,
      })
      .default({}),
  })
  .transform(({ list_ids: listIds, advice: said, ...rest }): Marketer => {
    const texts = Object.entries(said).filter(([, text]) => text !== '')
    return { ...rest, listIds, advice: Object.fromEntries(texts) }
  })

/**
 * The mailing services that the program ships, from `services.json`, which is in the format of a
 * marketer file. The entry of an operator with the same key replaces the shipped one.
 */
export const shippedServices: readonly Marketer[] = services.map((one) => marketerSchema.parse(one))

function unique<Schema extends z.ZodType<string>>(schema: Schema, most: number) {
  return z
    .array(schema)
    .max(most, refusal('refused.too-many', { max: most }))
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

export type MarketerFault = { line: number; key?: string; field?: string; reason: string }

/** The declared marketers, or all errors in the file. */
export type MarketerReading = { marketers: Marketer[] } | { faults: MarketerFault[] }

type Item = { value: unknown; lineOf: (path: readonly PropertyKey[]) => number }

/** Maximum number of errors listed. */
const FAULTS_MAX = 200

/**
 * Parses marketers from a YAML list of maps or from JSON lines. Returns all errors together; a file
 * with any error is rejected as a whole.
 */
export function readMarketers(text: string, own: OwnNames): MarketerReading {
  if (Buffer.byteLength(text) > marketerBounds.fileBytesMax) {
    const most = marketerBounds.fileBytesMax / (1024 * 1024)
    return { faults: [{ line: 1, reason: `The file is larger than ${most} MB.` }] }
  }
  const read = /^\s*\{/.test(text) ? jsonItems(text) : yamlItems(text)
  if ('faults' in read) return read
  const faults: MarketerFault[] = []
  const marketers: Marketer[] = []
  const lines = new Map<string, number>()
  for (const item of read.items) {
    const checked = checkMarketer(item.value, own)
    if ('marketer' in checked) {
      const { key } = checked.marketer
      const before = lines.get(key)
      if (before === undefined) marketers.push(checked.marketer)
      else faults.push({ line: item.lineOf([]), key, reason: `The same key is on line ${before}.` })
      lines.set(key, before ?? item.lineOf([]))
    } else {
      for (const { path, ...fault } of checked.faults) {
        faults.push({ line: item.lineOf(path), ...fault })
      }
    }
    if (faults.length >= FAULTS_MAX) break
  }
  return faults.length > 0 ? { faults: faults.slice(0, FAULTS_MAX) } : { marketers }
}

export type FieldFault = { path: PropertyKey[]; key?: string; field?: string; reason: string }

export function checkMarketer(
  value: unknown,
  own: OwnNames,
): { marketer: Marketer } | { faults: FieldFault[] } {
  const read = marketerSchema.safeParse(value, { error: refusalOfIssue })
  if (!read.success) return { faults: read.error.issues.map((issue) => faultOf(issue, value)) }
  const { key } = read.data
  const faults = marksFaults(read.data, own).map(({ field, reason }): FieldFault => {
    return { path: [field], key, field, reason }
  })
  return faults.length > 0 ? { faults } : { marketer: read.data }
}

/** Formats an error as a sentence with its place in the file. */
export function marketerFaultLine({ line, key, field, reason }: MarketerFault): string {
  const place = [`line ${line}`, ...(key === undefined ? [] : [key])].join(', ')
  const where = field === undefined ? place : `${place}: ${field}`
  return refusal('refused.at', { where, problem: reason })
}

function faultOf(issue: z.core.$ZodIssue, value: unknown): FieldFault {
  const written = (value as { key?: unknown } | null)?.key
  const key = typeof written === 'string' ? { key: written.slice(0, 60) } : {}
  const path = issue.path
  const [field] = path
  const isUnknown = issue.code === 'unrecognized_keys'
  const reason = isUnknown
    ? refusal('refused.unknown-field', { field: issue.keys.join(', ').slice(0, 100) })
    : issue.message
  return { path, ...key, ...(field !== undefined && { field: String(field) }), reason }
}

function jsonItems(text: string): { items: Item[] } | { faults: MarketerFault[] } {
  const items: Item[] = []
  const faults: MarketerFault[] = []
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue
    try {
      items.push({ value: JSON.parse(line) as unknown, lineOf: () => index + 1 })
    } catch {
      if (faults.length < FAULTS_MAX) {
        faults.push({ line: index + 1, reason: 'This line is not a JSON object.' })
      }
    }
  }
  return faults.length > 0 ? { faults } : { items }
}

function yamlItems(text: string): { items: Item[] } | { faults: MarketerFault[] } {
  const counter = new LineCounter()
  const lineAt = (offset: number) => Math.max(1, counter.linePos(offset).line)
  const options = { lineCounter: counter, prettyErrors: false, version: '1.2' } as const
  const document = parseDocument(text, options)
  const faults: MarketerFault[] = document.errors.map(({ pos, message }) => {
    return { line: lineAt(pos[0]), reason: `This is not valid YAML: ${message}` }
  })
  if (faults.length === 0 && document.contents) faults.push(...tricksIn(document.contents, lineAt))
  if (faults.length > 0) return { faults: faults.slice(0, FAULTS_MAX) }
  const contents = document.contents as ParsedNode | null
  if (contents === null || (isScalar(contents) && contents.value === null)) return { items: [] }
  if (!isSeq(contents)) {
    return {
      faults: [{ line: 1, reason: 'A file of marketers must be a list. Begin with "- key:".' }],
    }
  }
  const items = (contents.items as unknown[]).map((node): Item => {
    const value = isNode(node) ? (node.toJS(document, { maxAliasCount: 0 }) as unknown) : null
    return { value, lineOf: (path) => lineAt(startOf(node, path)) }
  })
  return { items }
}

/**
 * Returns errors for anchors, aliases and tags, which could make the content larger than it looks,
 * or different.
 */
function tricksIn(contents: Node, lineAt: (offset: number) => number): MarketerFault[] {
  const faults: MarketerFault[] = []
  const fault = (node: Node, reason: string) =>
    faults.push({ line: lineAt(node.range?.[0] ?? 0), reason })
  visit(contents, {
    Alias: (_, node) => void fault(node, 'Aliases (*name) are not supported.'),
    Node: (_, node) => {
      if ('anchor' in node && node.anchor) fault(node, 'Anchors (&name) are not supported.')
      if (node.tag) fault(node, `Tags (${node.tag}) are not supported.`)
    },
  })
  return faults
}

/** Returns the offset of the deepest existing node of a path. */
function startOf(node: unknown, path: readonly PropertyKey[]): number {
  const [step, ...rest] = path
  const start = isNode(node) ? (node.range?.[0] ?? 0) : 0
  if (step === undefined) return start
  const child =
    isMap(node) || isSeq(node) ? (node.get(step as string | number, true) as unknown) : undefined
  return isNode(child) ? startOf(child, rest) : start
}

/**
 * Formats marketers as a file that `readMarketers` can parse: YAML for people, JSON lines for
 * programs.
 */
export function writeMarketers(marketers: readonly Marketer[], format: 'yaml' | 'jsonl'): string {
  const written = marketers.map(writtenMarketer)
  if (format === 'jsonl') return written.map((one) => `${JSON.stringify(one)}\n`).join('')
  return written.length === 0 ? '[]\n' : stringify(written, { version: '1.2', lineWidth: 100 })
}
