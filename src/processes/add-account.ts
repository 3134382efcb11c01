import { createInterface } from 'node:readline'
import { type Readable, Writable } from 'node:stream'
import { parseArgs } from 'node:util'
import { z } from 'zod'
import type { App } from '../app.ts'
import { inTransaction } from '../db/pool.ts'
import {
  findReporterByEmail,
  insertReporter,
  updateReporter,
  updateReporterSettings,
} from '../db/reporters.ts'
import type { LetterLanguage } from '../texts/letters.ts'
import { insertKarma } from '../db/reputations.ts'
import { insertToken, type TokenScope, scopes, usualScopes } from '../db/sessions.ts'
import { UsageError } from '../errors.ts'
import { createToken, hashPassword } from '../people/credentials.ts'
import { uuidv7 } from '../world.ts'

/** Standard input, and where the prompt is shown. */
export type Terminal = { stdin: Readable & { isTTY?: boolean }; stderr: { write: Print } }

type Print = (text: string) => unknown

/**
 * Reads a secret from standard input: its first line, or what is typed on a terminal, which does
 * not show it. Secrets are not arguments, because every user of the machine can list those.
 *
 * @throws UsageError when there is none
 */
export async function readSecret(name: string, { stdin, stderr }: Terminal): Promise<string> {
  const isTyped = stdin.isTTY === true
  if (isTyped) stderr.write(`${name}: `)
  const lines = createInterface({ input: stdin, output: nowhere(), terminal: isTyped })
  try {
    for await (const line of lines) if (line !== '') return line
  } finally {
    lines.close()
    if (isTyped) stderr.write('\n')
  }
  throw new UsageError([`${name}: nothing was given on standard input.`])
}

/** The same for a new secret: on a terminal it is typed twice. */
export async function readNewSecret(name: string, terminal: Terminal): Promise<string> {
  const secret = await readSecret(name, terminal)
  if (terminal.stdin.isTTY !== true) return secret
  if ((await readSecret(`${name}, again`, terminal)) === secret) return secret
  throw new UsageError([`${name}: the two are not the same.`])
}

/** Takes what a terminal would show. */
function nowhere(): Writable {
  return new Writable({ write: (_chunk, _encoding, done) => done() })
}

/** What `account add` was asked for. */
export type AccountRequest = {
  email: string
  password: string | undefined
  isAdmin: boolean
  wantsToken: boolean
  /** Whether a new account starts with little karma, as if nobody vouched for it. */
  isUnproven?: boolean
  /** Of the mail to it; undefined keeps what is, and that is English at first. */
  language?: LetterLanguage | undefined
  /** What the token may do; undefined: all but change the account. */
  scopes?: readonly TokenScope[] | undefined
}

/** What the arguments of `account add` say; a password is read apart. */
export type AccountArguments = Omit<AccountRequest, 'password'> & { asksPassword: boolean }

/** What it answers; printed as one line of JSON. */
export type AccountAnswer = { id: string; email: string; admin: boolean; token?: string }

const PASSWORD_CHARS_MIN = 10
const notAnArgument =
  'The password is read from standard input: give --password alone. ' +
  'Every user of this machine can see arguments, so choose another password than the one given.'
const languages = z.enum(['en', 'fr', 'ru'])

/** Reads `add --email E` and its options. */
export function parseAccount(args: readonly string[]): AccountArguments {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      email: { type: 'string' },
      password: { type: 'boolean', default: false },
      admin: { type: 'boolean', default: false },
      token: { type: 'boolean', default: false },
      unproven: { type: 'boolean', default: false },
      language: { type: 'string' },
      scope: { type: 'string' },
    },
  })
  const problems: string[] = []
  if (positionals[0] === 'add' && positionals.length > 1 && values.password) {
    problems.push(notAnArgument)
  } else if (positionals.length !== 1 || positionals[0] !== 'add') {
    problems.push('Say "account add".')
  }
  const email = z.email().safeParse(values.email)
  if (!email.success) problems.push('--email must be a mail address.')
  const language = languages.optional().safeParse(values.language)
  if (!language.success) problems.push('--language must be en, fr or ru.')
  const wanted = values.scope?.split(',').map((name) => name.trim())
  const unknown = wanted?.filter((name) => !scopes.some((scope) => scope === name)) ?? []
  if (unknown.length > 0) problems.push(`--scope may name ${scopes.join(', ')}.`)
  if (wanted && !values.token) problems.push('--scope says what the token may do: add --token.')
  if (!email.success || problems.length > 0) throw new UsageError(problems)
  return {
    email: email.data.toLowerCase(),
    asksPassword: values.password,
    isAdmin: values.admin,
    wantsToken: values.token,
    isUnproven: values.unproven,
    language: language.data,
    scopes: wanted && scopes.filter((scope) => wanted.includes(scope)),
  }
}

/** The password that standard input gives. */
export async function readPassword(terminal: Terminal): Promise<string> {
  const password = await readNewSecret('Password', terminal)
  if (password.length >= PASSWORD_CHARS_MIN) return password
  throw new UsageError([`The password must have at least ${PASSWORD_CHARS_MIN} characters.`])
}

/**
 * Makes an account, or brings the one of this address up to date: a password given replaces the
 * old one, `isAdmin` raises its rights, and a token is added to those it has. For a new one the
 * operator vouches, unless it is to prove itself.
 */
export async function addAccount(
  request: AccountRequest,
  app: Pick<App, 'pool' | 'clock'>,
): Promise<AccountAnswer> {
  const now = app.clock()
  const passwordHash = request.password === undefined ? null : await hashPassword(request.password)
  const { email, isAdmin } = request
  const fresh = { id: uuidv7(now), email, isAdmin, passwordHash, createdAt: now }
  let id = await inTransaction(app.pool, async (tx) => {
    const reporterId = await insertReporter(tx, fresh)
    if (reporterId === undefined) return undefined
    await insertKarma(tx, { reporterId, isVouched: !(request.isUnproven ?? false), now })
    return reporterId
  })
  let admin = isAdmin
  if (id === undefined) {
    const known = await findReporterByEmail(app.pool, email)
    if (!known) throw new Error('The account vanished while it was looked for; try again.')
    id = known.id
    admin ||= known.isAdmin
    await updateReporter(app.pool, id, {
      passwordHash: passwordHash ?? undefined,
      isAdmin: isAdmin || undefined,
    })
  }
  if (request.language) await updateReporterSettings(app.pool, id, { language: request.language })
  const answer: AccountAnswer = { id, email, admin }
  if (!request.wantsToken) return answer
  const { token, hash } = createToken()
  const allowed = request.scopes ?? usualScopes
  if (!admin && allowed.includes('admin')) {
    throw new UsageError(['The scope admin is for administrators: no token was made.'])
  }
  const known = { hash, reporterId: id, name: 'command line', createdAt: now }
  await insertToken(app.pool, { ...known, scopes: allowed })
  return { ...answer, token }
}
