import {
  type Import,
  importsOf,
  resolved,
  roomOf,
  type Rule,
  type TidyFile,
  typescriptIn,
} from './tree.ts'

const knowledge = ['mail', 'origin', 'pieces', 'verdict']

/**
 * The table "Who imports whom" of `src/README.md`, lowest layer first. A folder may import from the
 * folders in its line and nothing else; `types` may be imported as types only.
 */
export const mayImport: Readonly<Record<string, { values: readonly string[]; types?: string[] }>> =
  {
    mail: { values: [] },
    texts: { values: [] },
    origin: { values: ['mail'] },
    pieces: { values: ['mail', 'origin'] },
    verdict: { values: ['mail', 'origin', 'pieces'] },
    db: { values: [], types: [...knowledge, 'texts'] },
    actions: { values: ['mail', 'db'] },
    activity: { values: ['db'] },
    queue: { values: ['actions', 'activity', 'db'] },
    net: { values: ['mail'] },
    outage: { values: ['db'] },
    parsing: { values: [...knowledge, 'texts', 'db'] },
    counting: { values: ['actions', ...knowledge, 'db'] },
    judging: { values: ['actions', ...knowledge, 'db', 'parsing', 'counting'] },
    letters: { values: ['actions', 'mail', 'verdict', 'texts', 'db', 'queue'] },
    people: { values: ['actions', 'activity', 'mail', 'db', 'queue', 'outage', 'letters'] },
    marketers: { values: ['actions', 'mail', 'pieces', 'verdict', 'db', 'queue', 'letters'] },
    lists: { values: ['actions', 'mail', 'verdict', 'db', 'queue', 'counting'] },
    feedback: {
      values: [
        ...['actions', 'activity', ...knowledge, 'texts', 'db', 'queue', 'parsing', 'judging'],
        ...['letters', 'people'],
      ],
    },
    reports: {
      values: [
        ...['actions', 'activity', ...knowledge, 'db', 'queue', 'parsing', 'counting', 'judging'],
        ...['outage', 'letters', 'people', 'marketers', 'feedback'],
      ],
    },
    health: {
      values: ['actions', 'mail', 'texts', 'db', 'queue', 'net', 'outage'],
    },
    search: {
      values: [
        ...['actions', ...knowledge, 'db', 'queue', 'parsing', 'counting', 'letters', 'feedback'],
        'reports',
      ],
    },
    web: {
      values: [
        ...['actions', 'activity', 'mail', 'origin', 'verdict', 'texts', 'db', 'queue', 'counting'],
        ...['judging', 'letters', 'people', 'marketers', 'lists', 'feedback', 'reports', 'health'],
        'search',
        'outage',
      ],
    },
    durations: { values: [] },
    errors: { values: [] },
    phrase: { values: [] },
    roles: { values: [] },
    world: { values: [] },
    log: { values: ['mail'] },
    config: { values: ['settings'] },
    settings: { values: [] },
    app: { values: [], types: ['config', 'db', 'queue', 'net'] },
  }

const unbound = ['processes', 'cli', 'main']
const freeTypes = ['world', 'log', 'app']
/**
 * The modules of Node that the pure folders may use: computations on values, without input or
 * output.
 */
const pureModules = [
  'assert',
  'buffer',
  'crypto',
  'punycode',
  'string_decoder',
  'url',
  'util',
  'zlib',
]

type Crossing = Import & { from: string; to: string }

function crossings(file: TidyFile): Crossing[] {
  const from = roomOf(file.path)
  return importsOf(file).flatMap((one) => {
    if (!one.specifier.startsWith('.')) return []
    const target = resolved(file, one.specifier)
    const to = target.startsWith('src/') ? roomOf(target) : `../${target}`
    return to === from ? [] : [{ ...one, from, to }]
  })
}

function isAllowed({ from, to, isType, names }: Crossing): boolean {
  if (to.startsWith('../')) return false
  if (from === 'processes' && to === 'cli') return false
  if (unbound.includes(from)) return true
  if (['durations', 'errors', 'phrase', 'roles'].includes(to)) return true
  const isKnowing = knowledge.includes(from)
  if (isType && freeTypes.includes(to)) return !(isKnowing && to === 'app')
  // Every folder except those of pure knowledge may create ids and random bytes; only the system
  // clock is passed as a parameter.
  if (to === 'world') return !isKnowing && !names.includes('systemClock')
  const allowed = mayImport[from]
  if (!allowed) return false
  return allowed.values.includes(to) || (isType && (allowed.types ?? []).includes(to))
}

const rooms: Rule = {
  name: 'a folder imports only the folders that "Who imports whom" allows it',
  check: (tree) =>
    typescriptIn(tree, 'src')
      .flatMap(crossings)
      .filter((crossing) => !isAllowed(crossing))
      .map(({ at, from, to, isType }) => {
        const what = isType ? 'a type of' : 'from'
        return `${at} ${from} imports ${what} ${to}: hand it in, or move it to another folder`
      }),
  raises: [
    ['src/mail/a.ts:1', { 'src/mail/a.ts': "import { b } from '../db/b.ts'" }],
    ['src/mail/a.ts:1', { 'src/mail/a.ts': "import type { App } from '../app.ts'" }],
    ['src/mail/a.ts:1', { 'src/mail/a.ts': "import { uuidv7 } from '../world.ts'" }],
    ['src/web/a.ts:2', { 'src/web/a.ts': "\nimport type { B } from '../pieces/b.ts'" }],
    ['src/feedback/a.ts:1', { 'src/feedback/a.ts': "import { b } from '../web/api/b.ts'" }],
    ['src/db/a.ts:1', { 'src/db/a.ts': "import { b } from '../mail/b.ts'" }],
    ['src/db/a.ts:1', { 'src/db/a.ts': "import { type B } from '../mail/b.ts'" }],
    ['src/db/a.ts:1', { 'src/db/a.ts': "export const b = () => import('../mail/b.ts')" }],
    ['src/queue/a.ts:1', { 'src/queue/a.ts': "export * from '../mail/b.ts'" }],
    ['src/web/a.ts:1', { 'src/web/a.ts': "import { systemClock } from '../world.ts'" }],
    ['src/web/a.ts:1', { 'src/web/a.ts': "type A = import('../cli/b.ts').B" }],
    ['src/people/a.ts:1', { 'src/people/a.ts': "import { a } from '../../test/a.ts'" }],
    ['src/cli/a.ts:1', { 'src/cli/a.ts': "import { a } from '../../scripts/a.ts'" }],
    ['src/processes/a.ts:1', { 'src/processes/a.ts': "import { a } from '../cli/b.ts'" }],
    ['src/novel/a.ts:1', { 'src/novel/a.ts': "import { a } from '../mail/a.ts'" }],
  ],
  passes: [
    { 'src/mail/a.ts': "import { CallerError } from '../errors.ts'\nimport { b } from './b.ts'" },
    { 'src/mail/a.ts': "import type { Clock } from '../world.ts'" },
    { 'src/db/a.ts': "import type { B } from '../mail/b.ts'\nimport { u } from '../world.ts'" },
    { 'src/web/api/a.ts': "import type { App } from '../../app.ts'\nimport { a } from '../a.ts'" },
    { 'src/cli/a.ts': "import { a } from '../web/a.ts'\nimport { b } from '../reports/b.ts'" },
  ],
}

const pure: Rule = {
  name: 'knowledge would run with the cable out: no file, socket, process or clock of Node',
  check: (tree) =>
    typescriptIn(tree, ...knowledge.map((room) => `src/${room}`)).flatMap((file) =>
      importsOf(file)
        .filter(({ specifier }) => /^node:/.test(specifier))
        .filter(({ specifier }) => !pureModules.includes(specifier.slice('node:'.length)))
        .map(({ at, specifier }) => `${at} imports ${specifier}: have its answer handed in`),
    ),
  raises: [
    ['src/mail/a.ts:1', { 'src/mail/a.ts': "import { resolve } from 'node:dns'" }],
    ['src/verdict/a.ts:1', { 'src/verdict/a.ts': "import { readFile } from 'node:fs/promises'" }],
  ],
  passes: [
    { 'src/mail/a.ts': "import { createHash } from 'node:crypto'" },
    { 'src/db/a.ts': "import { readFile } from 'node:fs/promises'" },
  ],
}

/** A quoted relative path without the ending of our modules; only such files are parsed. */
const otherEnding = /(['"])\.\.?(?:\/(?:(?!\1|\n).)*)?(?<!\.ts|\.json)\1/

const endings: Rule = {
  name: 'an import of our own names the file, with its .ts',
  check: (tree) =>
    typescriptIn(tree, 'src', 'clients', 'scripts', 'test')
      .filter(({ text }) => otherEnding.test(text))
      .flatMap((file) =>
        importsOf(file)
          .filter(({ specifier }) => specifier.startsWith('.') && !/\.(ts|json)$/.test(specifier))
          .map(({ at, specifier }) => `${at} imports ${specifier}: write ${specifier}.ts`),
      ),
  raises: [
    ['src/mail/a.ts:1', { 'src/mail/a.ts': "import { b } from './b'" }],
    ['test/a.ts:1', { 'test/a.ts': "import { b } from '../src/b.js'" }],
  ],
  passes: [{ 'src/mail/a.ts': "import { b } from './b.ts'\nimport c from 'c'" }],
}

const transactions: Rule = {
  name: 'a route or a command calls a function of its subject, and opens no transaction itself',
  check: (tree) =>
    typescriptIn(tree, 'src/web', 'src/cli').flatMap((file) =>
      importsOf(file)
        .filter(({ names }) => names.includes('inTransaction'))
        .map(({ at }) => `${at} opens a transaction: move it to the folder of its subject`),
    ),
  raises: [
    [
      'src/web/api/a.ts:1',
      { 'src/web/api/a.ts': "import { inTransaction } from '../../db/pool.ts'" },
    ],
  ],
  passes: [
    { 'src/web/api/a.ts': "import { findReport } from '../../db/reports.ts'" },
    { 'src/people/a.ts': "import { inTransaction } from '../db/pool.ts'" },
  ],
}

export const importRules: readonly Rule[] = [rooms, pure, endings, transactions]
