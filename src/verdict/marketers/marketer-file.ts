import { isMap, isNode, isScalar, isSeq, LineCounter, parseDocument, visit } from 'yaml'
import type { Node, ParsedNode } from 'yaml'
import type { z } from 'zod'
import type { OwnNames } from '../lists/spare.ts'
import { type Marketer, marketerBounds } from './marketer.ts'
import { marketerSchema } from './marketer-schema.ts'
import { marksFaults } from './marks-faults.ts'

/** Something wrong in a file of marketers, and where. */
export type MarketerFault = { line: number; key?: string; field?: string; reason: string }

/** What a file declares, or all that is wrong with it. */
export type MarketerReading = { marketers: Marketer[] } | { faults: MarketerFault[] }

type Item = { value: unknown; lineOf: (path: readonly PropertyKey[]) => number }

/** Faults beyond these would only repeat the same. */
const FAULTS_MAX = 200

/**
 * Reads marketers: a YAML list of maps, or lines of JSON. All faults are named at once; what has
 * one declares nothing, so a file is taken whole or not at all.
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
      else faults.push({ line: item.lineOf([]), key, reason: `It stands on line ${before} too.` })
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

/** A fault of one declaration, and the path of fields it stands under. */
export type FieldFault = { path: PropertyKey[]; key?: string; field?: string; reason: string }

/** Checks one declaration, from a file or a form. */
export function checkMarketer(
  value: unknown,
  own: OwnNames,
): { marketer: Marketer } | { faults: FieldFault[] } {
  const read = marketerSchema.safeParse(value)
  if (!read.success) return { faults: read.error.issues.map((issue) => faultOf(issue, value)) }
  const { key } = read.data
  const faults = marksFaults(read.data, own).map(({ field, reason }): FieldFault => {
    return { path: [field], key, field, reason }
  })
  return faults.length > 0 ? { faults } : { marketer: read.data }
}

/** A fault as a line of text. */
export function marketerFaultLine({ line, key, field, reason }: MarketerFault): string {
  const where = [`line ${line}`, ...(key === undefined ? [] : [key])].join(', ')
  return `${where}: ${field === undefined ? '' : `${field}: `}${reason}`
}

function faultOf(issue: z.core.$ZodIssue, value: unknown): FieldFault {
  const written = (value as { key?: unknown } | null)?.key
  const key = typeof written === 'string' ? { key: written.slice(0, 60) } : {}
  const path = issue.path
  const [field] = path
  const isUnknown = issue.code === 'unrecognized_keys'
  const reason = isUnknown
    ? `There is no field "${issue.keys.join('", "').slice(0, 100)}".`
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
        faults.push({ line: index + 1, reason: 'This line is no JSON object.' })
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
    return { line: lineAt(pos[0]), reason: `This is no YAML: ${message}` }
  })
  if (faults.length === 0 && document.contents) faults.push(...tricksIn(document.contents, lineAt))
  if (faults.length > 0) return { faults: faults.slice(0, FAULTS_MAX) }
  const contents = document.contents as ParsedNode | null
  if (contents === null || (isScalar(contents) && contents.value === null)) return { items: [] }
  if (!isSeq(contents)) {
    return { faults: [{ line: 1, reason: 'A file of marketers is a list: begin with "- key:".' }] }
  }
  const items = (contents.items as unknown[]).map((node): Item => {
    const value = isNode(node) ? (node.toJS(document, { maxAliasCount: 0 }) as unknown) : null
    return { value, lineOf: (path) => lineAt(startOf(node, path)) }
  })
  return { items }
}

/** Nothing is larger or other than it looks. */
function tricksIn(contents: Node, lineAt: (offset: number) => number): MarketerFault[] {
  const faults: MarketerFault[] = []
  const fault = (node: Node, reason: string) =>
    faults.push({ line: lineAt(node.range?.[0] ?? 0), reason })
  visit(contents, {
    Alias: (_, node) => void fault(node, 'Aliases (*name) are not for marketers.'),
    Node: (_, node) => {
      if ('anchor' in node && node.anchor) fault(node, 'Anchors (&name) are not for marketers.')
      if (node.tag) fault(node, `Tags (${node.tag}) are not for marketers.`)
    },
  })
  return faults
}

/** Where the deepest node of a path begins. */
function startOf(node: unknown, path: readonly PropertyKey[]): number {
  const [step, ...rest] = path
  const start = isNode(node) ? (node.range?.[0] ?? 0) : 0
  if (step === undefined) return start
  const child =
    isMap(node) || isSeq(node) ? (node.get(step as string | number, true) as unknown) : undefined
  return isNode(child) ? startOf(child, rest) : start
}
