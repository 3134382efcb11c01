import { createInterface } from 'node:readline'
import { type Readable, Writable } from 'node:stream'
import { parseArgs } from 'node:util'
import { z } from 'zod'
import type { App } from '../app.ts'
import { insertAudit } from '../db/audit-log.ts'
import { inTransaction } from '../db/pool.ts'
import {
  findReporterByEmail,
  insertReporter,
  updateReporter,
  updateReporterSettings,
} from '../db/reporters.ts'
import { type Language, locales } from '../texts/messages.ts'
import { insertKarma } from '../db/reputations.ts'
import { insertToken, type TokenScope, scopes, usualScopes } from '../db/sessions.ts'
import { UsageError } from '../errors.ts'
import { createToken, hashPassword } from '../people/credentials.ts'
import { includesRole, type Role, roles } from '../roles.ts'
import { uuidv7 } from '../world.ts'

/** Standard input, and the stream for prompts. */
export type Terminal = { stdin: Readable & { isTTY?: boolean }; stderr: { write: Print } }

type Print = (text: string) => unknown

/**
 * Reads a secret from standard input: its first line, or hidden input on a terminal. Secrets are
 * not arguments, because every user of the machine can list the arguments of a process.
 *
 * @throws UsageError if the input is empty
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
  throw new UsageError([`${name}: Standard input is empty. Enter the value there.`])
}

/** Reads a new secret from standard input; on a terminal it must be typed twice. */
export async function readNewSecret(name: string, terminal: Terminal): Promise<string> {
  const secret = await readSecret(name, terminal)
  if (terminal.stdin.isTTY !== true) return secret
  if ((await readSecret(`${name}, again`, terminal)) === secret) return secret
  throw new UsageError([`${name}: The two entries are not the same. Try again.`])
}

/** Returns a stream that discards its input, to hide the echo of a terminal. */
function nowhere(): Writable {
  return new Writable({ write: (_chunk, _encoding, done) => done() })
}

export type AccountRequest = {
  email: string
  password: string | undefined
  /** The role of the account; null keeps the current one, initially none. */
  role: Role | null
  wantsToken: boolean
  /** Whether a new account starts with low karma, like one from an open sign-up. */
  isUnproven?: boolean
  /** The language of mail to the account; undefined keeps the current one, initially English. */
  language?: Language | undefined
  /** The scopes of the token; undefined: all except changes to the account. */
  scopes?: readonly TokenScope[] | undefined
  tokenRole?: Role | undefined
}

/** The parsed arguments of `account add`; a password is read separately. */
export type AccountArguments = Omit<AccountRequest, 'password'> & { asksPassword: boolean }

/** The result, printed as one line of JSON. */
export type AccountAnswer = { id: string; email: string; role: Role | null; token?: string }

const LAST =
  'This is the last administrator, so its role stays. Make another account an administrator first.'
const PASSWORD_CHARS_MIN = 10
const notAnArgument =
  'The password is read from standard input. Use --password without a value. ' +
  'Other users of this machine can see arguments, so choose a different password.'
const languages = z.enum(Object.keys(locales) as Language[])

/** Parses `add --email E` and its options. */
export function parseAccount(args: readonly string[]): AccountArguments {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      email: { type: 'string' },
      password: { type: 'boolean', default: false },
      role: { type: 'string' },
      token: { type: 'boolean', default: false },
      unproven: { type: 'boolean', default: false },
      language: { type: 'string' },
      scope: { type: 'string' },
      'token-role': { type: 'string' },
    },
  })
  const problems: string[] = []
  if (positionals[0] === 'add' && positionals.length > 1 && values.password) {
    problems.push(notAnArgument)
  } else if (positionals.length !== 1 || positionals[0] !== 'add') {
    problems.push('Use "account add".')
  }
  const email = z.email().safeParse(values.email)
  if (!email.success) problems.push('--email must be a valid email address.')
  const language = languages.optional().safeParse(values.language)
  if (!language.success) problems.push('--language must be en, fr or ru.')
  const wanted = values.scope?.split(',').map((name) => name.trim())
  const unknown = wanted?.filter((name) => !scopes.some((scope) => scope === name)) ?? []
  if (unknown.length > 0) problems.push(`--scope may name ${scopes.join(', ')}.`)
  const [role, tokenRole] = [values.role, values['token-role']].map((name) => {
    return z.enum(roles).optional().safeParse(name)
  })
  for (const [option, read] of [
    ['role', role],
    ['token-role', tokenRole],
  ] as const) {
    if (!read?.success) problems.push(`--${option} must be one of ${roles.join(', ')}.`)
  }
  if ((wanted ?? tokenRole?.data) && !values.token) {
    problems.push('--scope and --token-role work only together with --token.')
  }
  if (!email.success || problems.length > 0) throw new UsageError(problems)
  return {
    email: email.data.toLowerCase(),
    asksPassword: values.password,
    role: role?.data ?? null,
    wantsToken: values.token,
    isUnproven: values.unproven,
    language: language.data,
    scopes: wanted && scopes.filter((scope) => wanted.includes(scope)),
    tokenRole: tokenRole?.data,
  }
}

/** Reads the password from standard input. */
export async function readPassword(terminal: Terminal): Promise<string> {
  const password = await readNewSecret('Password', terminal)
  if (password.length >= PASSWORD_CHARS_MIN) return password
  throw new UsageError([`The password must have at least ${PASSWORD_CHARS_MIN} characters.`])
}

/** Does what the command says, and writes into the audit log what a person changed. */
export async function runAccount(
  request: AccountRequest,
  app: Pick<App, 'pool' | 'clock'>,
): Promise<AccountAnswer> {
  const answer = await addAccount(request, app)
  const given = [
    answer.role ?? 'no role',
    request.password !== undefined && 'password',
    request.wantsToken && `token${request.tokenRole ? ` as ${request.tokenRole}` : ''}`,
  ]
  const detail = `${answer.email}: ${given.filter(Boolean).join(', ')}`
  await insertAudit(app.pool, { at: app.clock(), reporterId: null, action: 'add account', detail })
  return answer
}

/**
 * Creates an account, or updates the account with the address: a given password replaces the old
 * password, a role replaces its role, and a new token is added. A new account
 * starts as trusted by the operator unless `isUnproven` is set.
 */
export async function addAccount(
  request: AccountRequest,
  app: Pick<App, 'pool' | 'clock'>,
): Promise<AccountAnswer> {
  const now = app.clock()
  const passwordHash = request.password === undefined ? null : await hashPassword(request.password)
  const { email } = request
  const fresh = { id: uuidv7(now), email, role: request.role, passwordHash, createdAt: now }
  let id = await inTransaction(app.pool, async (tx) => {
    const reporterId = await insertReporter(tx, fresh)
    if (reporterId === undefined) return undefined
    await insertKarma(tx, { reporterId, isVouched: !(request.isUnproven ?? false), now })
    return reporterId
  })
  let { role } = request
  if (id === undefined) {
    const known = await findReporterByEmail(app.pool, email)
    if (!known) throw new Error('The account was deleted at the same moment. Try again.')
    id = known.id
    role ??= known.role
    const change = { passwordHash: passwordHash ?? undefined, role: role ?? undefined }
    // Loaded here, because "start" needs no letters.
    const { mayClose } = await import('../people/accounts.ts')
    await inTransaction(app.pool, async (tx) => {
      if (role !== known.role && !(await mayClose(tx, known))) throw new UsageError([LAST])
      await updateReporter(tx, known.id, change)
    })
  }
  if (request.language) await updateReporterSettings(app.pool, id, { language: request.language })
  const answer: AccountAnswer = { id, email, role }
  if (!request.wantsToken) return answer
  const { token, hash } = createToken()
  const { tokenRole = null } = request
  if (tokenRole !== null && !includesRole(role, tokenRole)) {
    throw new UsageError(['The role of the token is above that of the account. No token created.'])
  }
  const known = { hash, reporterId: id, name: 'command line', createdAt: now }
  await insertToken(app.pool, { ...known, scopes: request.scopes ?? usualScopes, role: tokenRole })
  return { ...answer, token }
}
