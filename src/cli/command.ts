import { readFile } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { type Action, type InputProblem, type Outcome, readInput, runAction } from '../actions.ts'
import type { App } from '../app.ts'
import { CallerError, reasonOf, UsageError } from '../errors.ts'
import { concealKeys } from '../mail/conceal-keys.ts'
import { doneIn, refusalIn } from '../texts/phrases.ts'

export type Described = { usage: string; summary: string }

/**
 * A command without an audit entry: it only reads, or does what is scheduled anyway. Throws a
 * CallerError if it finds nothing.
 */
export type Query<Input extends z.ZodObject = z.ZodObject> = {
  name: string
  summary: string
  input: Input
  /** Returns the output as text, or objects to print as JSON lines. */
  print(input: z.output<Input>, app: App): Promise<string | readonly object[]>
  /** Set if the command prints a key to its owner. In other output, keys are masked. */
  showsKey?: true
}

/** Declares a query; its types follow from its input. Without one, it takes no arguments. */
export function defineQuery<Input extends z.ZodObject = typeof noInput>(
  query: Omit<Query<Input>, 'input'> & Partial<Pick<Query<Input>, 'input'>>,
): Query<Input> {
  return { input: noInput as z.ZodObject as Input, ...query }
}

const noInput = z.object({})

export type Operations = readonly (Action | Query)[]

export type Streams = {
  stdin: Readable
  stdout: { write: (text: string) => unknown }
  stderr: { write: (text: string) => unknown }
}

/**
 * Runs the operation that the arguments name. Returns the exit code: 1 if it was refused or changed
 * nothing.
 *
 * @param args begin with the second word of the command
 * @throws UsageError if the arguments name no operation, or if a field has an invalid value
 */
export async function runOperation(
  operations: Operations,
  args: readonly string[],
  open: (work: (app: App) => Promise<number>) => Promise<number>,
  { stdin, stdout, stderr }: Streams,
): Promise<number> {
  const operation = findOperation(operations, args)
  const given = await givenIn(operation, args, stdin)
  const input = readInput(operation.input, given)
  if ('problems' in input) throw new UsageError(input.problems.map(worded(operation, args)))
  const [group] = operation.name.split(' ')
  const complain = (problem: string) => {
    stderr.write(`signalpost ${group}: ${problem}\n`)
    return 1
  }
  return open(async (app) => {
    if (!('run' in operation)) {
      const output = await operation.print(input.data, app)
      const text = typeof output === 'string' ? output : output.map(jsonLine).join('')
      stdout.write(ended(operation.showsKey ? text : concealKeys(text)))
      return 0
    }
    const outcome = await runAction(operation, given, app, null)
    if ('problems' in outcome) {
      for (const problem of outcome.problems) complain(worded(operation, args)(problem))
      return 1
    }
    if ('proposed' in outcome) {
      stdout.write(
        `Proposed. A second person must confirm it: ${app.config.publicUrl}/admin/deletions\n`,
      )
      return 0
    }
    stdout.write(ended(textOf(operation, outcome)))
    return 'done' in outcome ? 0 : 1
  }).catch((error: unknown) => {
    if (error instanceof CallerError) return complain(refusalIn('en', error.message).text)
    throw error
  })
}

function textOf(action: Action, outcome: Exclude<Outcome, { problems: unknown }>): string {
  if ('unchanged' in outcome) return doneIn('en', action, outcome.unchanged) ?? ''
  return outcome.text ?? doneIn('en', action, outcome.done, outcome.count) ?? ''
}

function jsonLine(value: object): string {
  return `${JSON.stringify(value)}\n`
}

function ended(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`
}

/** The operation whose name shares the most leading words with the arguments. */
function findOperation(operations: Operations, args: readonly string[]): Operations[number] {
  const found = operations
    .filter(({ name }) => wordsOf(name).every((word, at) => word === args[at]))
    .toSorted((one, other) => wordsOf(other.name).length - wordsOf(one.name).length)[0]
  if (found) return found
  const names = operations.map(({ name }) => `"${name}"`)
  throw new UsageError([`Use ${names.join(', ').replace(/, ([^,]+)$/, ' or $1')}.`])
}

/** The words of an operation after the name of the command. */
function wordsOf(name: string): string[] {
  return name.split(' ').slice(1)
}

type Field = { name: string; schema: z.ZodType; option: string; argument: string | undefined }

function fieldsOf({ input }: Operations[number]): Field[] {
  return Object.entries(input.shape).map(([name, schema]) => {
    const { option, argument } = (schema as z.ZodType).meta() ?? {}
    const kebab = name
      .replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
      .replaceAll('_', '-')
    return { name, schema: schema as z.ZodType, option: option ?? kebab, argument }
  })
}

async function givenIn(operation: Operations[number], args: readonly string[], stdin: Readable) {
  const fields = fieldsOf(operation)
  const options = fields.filter(({ argument }) => argument === undefined)
  const { values, positionals } = parseArgs({
    args: args.slice(wordsOf(operation.name).length),
    allowPositionals: true,
    options: Object.fromEntries(
      options.map(({ option, schema }) => [
        option,
        { type: isFlag(schema) ? 'boolean' : 'string' },
      ]),
    ) as Record<string, { type: 'boolean' | 'string' }>,
  })
  const places = fields.filter(({ argument }) => argument !== undefined)
  const extra = positionals[places.length]
  if (extra !== undefined) throw new UsageError([`Unexpected argument "${extra}".`])
  const given: Record<string, unknown> = {}
  for (const { name, option, schema } of options) {
    const value = values[option]
    given[name] = typeof value === 'string' && isList(schema) ? value.split(',') : value
  }
  for (const [at, { name, schema }] of places.entries()) {
    given[name] = await contentOf(positionals[at], schema, stdin)
  }
  return given
}

async function contentOf(argument: string | undefined, schema: z.ZodType, stdin: Readable) {
  const fileBytesMax = schema.meta()?.fileBytesMax
  if (argument === undefined || fileBytesMax === undefined) return argument
  const reading = argument === '-' ? buffer(stdin) : readFile(argument)
  const bytes = await reading.catch((error: unknown) => {
    throw new UsageError([`Cannot read ${argument}: ${reasonOf(error)}`])
  })
  if (bytes.length <= fileBytesMax) return bytes.toString()
  throw new UsageError([`${argument} is larger than ${fileBytesMax / 1024} KB.`])
}

/** Prefixes a problem with the argument or option that its field belongs to. */
function worded(operation: Operations[number], args: readonly string[]) {
  return ({ field, message }: InputProblem): string => {
    const found = fieldsOf(operation).find(({ name }) => name === field)
    const said = refusalIn('en', message).text
    if (!found) return said
    const { argument, option, schema } = found
    if (argument === undefined) return `--${option}: ${said}`
    const isFile = schema.meta()?.fileBytesMax !== undefined
    return `${(isFile && args[wordsOf(operation.name).length]) || argument}: ${said}`
  }
}

function isFlag(schema: z.ZodType): boolean {
  return bare(schema) instanceof z.ZodBoolean
}

function isList(schema: z.ZodType): boolean {
  return bare(schema) instanceof z.ZodArray
}

function bare(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) {
    return bare(schema.unwrap() as z.ZodType)
  }
  return schema
}

/** Returns the usage and the summary of each operation; the usage follows from its input. */
export function describeAll(operations: Operations): Described[] {
  return operations.map((operation) => {
    const { name, summary } = operation
    return { usage: [name, ...fieldsOf(operation).map(fieldUsage)].join(' '), summary }
  })
}

function fieldUsage({ schema, option, argument }: Field): string {
  const inner = bare(schema)
  const words = inner instanceof z.ZodEnum ? inner.options.join('|') : 'TEXT'
  const value = isFlag(schema) ? '' : ` ${schema.meta()?.value ?? words}`
  const shown = argument ?? `--${option}${value}`
  return schema.safeParse(undefined).success ? `[${shown}]` : shown
}

/** Aligns rows in columns, as lines; the last column is not padded. */
export function columns(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, at) => {
    return Math.max(...rows.map((cells) => (cells[at] ?? '').length))
  })
  return rows.map((cells) => {
    return cells
      .map((cell, at) => (at === cells.length - 1 ? cell : cell.padEnd(widths[at] ?? 0)))
      .join('  ')
      .trimEnd()
  })
}
