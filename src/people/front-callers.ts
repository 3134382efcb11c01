import { verify } from '@node-rs/argon2'
import { z } from 'zod'
import { type CallerKeys, listValidKeys, type ValidKey } from '../db/known-callers.ts'
import type { RateLimit } from '../db/limits.ts'
import type { Db } from '../db/pool.ts'
import { findTokenOwner } from '../db/sessions.ts'
import { BusyError } from '../errors.ts'
import type { Callers } from '../outage/callers.ts'
import type { MainClient } from '../outage/main-client.ts'
import { type Credentials, hashPassword, type LookUps, passwordMarkOf } from './credentials.ts'
import type { Limits } from './limits.ts'

/*
 * A front asks its main installation about callers. It is less trusted: it never gets the hash of a
 * password, the role of an account, or a scope other than "report".
 */

/** The question for the owner of a token, by the SHA-256 hash of the token in hexadecimal. */
export const tokenQuestion = z.object({ hash: z.hex().length(64) })
const tokenAnswer = z.object({
  owner: z
    .object({ id: z.uuid(), email: z.string(), scopes: z.array(z.literal('report')) })
    .nullable(),
})

export const passwordQuestion = z.object({ email: z.string(), password: z.string() })
const passwordAnswer = z.object({
  account: z
    .object({ id: z.uuid(), email: z.string(), hasTotp: z.boolean(), mark: z.string() })
    .nullable(),
  /** Set if there were too many attempts: the password was not verified. */
  waitSeconds: z.number().optional(),
})

const KEYS_MAX = 5_000
/** The question which tokens and accounts may still be used. */
export const validQuestion = z.object({
  token: z.array(z.hex().length(64)).max(KEYS_MAX),
  account: z.array(z.string().max(320)).max(KEYS_MAX),
})
const validAnswer = z.object({
  valid: z.array(
    z.object({
      kind: z.enum(['token', 'account']),
      key: z.string(),
      mark: z.string().nullable(),
    }),
  ),
})

type FrontKey = z.infer<typeof validAnswer>['valid'][number]

const limitsAnswer = z.object({
  limits: z.array(z.custom<RateLimit>((value) => typeof value === 'object' && value !== null)),
})

export async function answerToken(
  db: Db,
  { hash }: z.infer<typeof tokenQuestion>,
): Promise<z.infer<typeof tokenAnswer>> {
  const owner = await findTokenOwner(db, Buffer.from(hash, 'hex'))
  if (!owner) return { owner: null }
  const { id, email } = owner
  return { owner: { id, email, scopes: owner.scopes.filter((scope) => scope === 'report') } }
}

/** Verifies a password for a front, with the limits of signing in under this name. */
export async function answerPassword(
  { credentials, limits }: { credentials: Credentials; limits: Limits },
  { email, password }: z.infer<typeof passwordQuestion>,
): Promise<z.infer<typeof passwordAnswer>> {
  for (const attempt of ['sign-in', 'password'] as const) {
    const admission = await limits.admit(attempt, { name: email })
    if (admission.is === 'refused') return { account: null, waitSeconds: admission.waitSeconds }
  }
  const caller = await credentials.byPasswordNow(email, password)
  if (!caller) return { account: null }
  await limits.giveBack('sign-in', { name: email })
  const { id, hasTotp, passwordMark } = caller
  return { account: { id, email: caller.email, hasTotp, mark: markOf(passwordMark, hasTotp) } }
}

/** Answers the question which tokens and accounts may still be used. */
export async function answerValid(
  db: Db,
  keys: z.infer<typeof validQuestion>,
  now: Date,
): Promise<z.infer<typeof validAnswer>> {
  const none = { session: [], reporter: [], 'mail-in': [] }
  const rows = await listValidKeys(db, { ...none, ...keys }, now)
  return {
    valid: rows.flatMap(({ kind, key, mark }): FrontKey[] => {
      if (kind === 'token') return [{ kind, key, mark: null }]
      if (kind !== 'account' || mark === null) return []
      const [passwordHash = '', hasTotp] = mark.split(' ')
      return [{ kind, key, mark: markOf(passwordMarkOf(passwordHash), hasTotp === 't') }]
    }),
  }
}

function markOf(passwordMark: string, hasTotp: boolean): string {
  return `${passwordMark} ${hasTotp ? 't' : 'f'}`
}

/** What a front asks its main installation about callers, instead of a database. */
export type FrontLookUps = {
  lookUps: LookUps
  listLimits: () => Promise<RateLimit[]>
}

/** Returns which of the callers that a front remembers are still valid. */
export async function listValidAtMain(
  main: MainClient,
  { token, account }: CallerKeys,
): Promise<ValidKey[]> {
  return (await main.ask('valid', { token, account }, validAnswer)).valid
}

class WrongPassword extends Error {}

/**
 * Creates the look-ups of a front. For the time when the main installation is away, a front keeps a
 * hash of its own of each correct password.
 */
export function createFrontLookUps(main: MainClient, callers: Pick<Callers, 'find'>): FrontLookUps {
  const decoy = hashPassword('nobody has this password')

  async function ask(email: string, password: string) {
    const { account, waitSeconds } = await main.ask('password', { email, password }, passwordAnswer)
    if (waitSeconds !== undefined) {
      throw new BusyError('Too many attempts to sign in. Try again later.', waitSeconds)
    }
    // Thrown, because a wrong password must not make the front forget the account.
    if (!account) throw new WrongPassword()
    const rest = { state: 'active', language: null, createdAt: new Date(0) } as const
    return { ...account, ...noRole, ...rest, passwordHash: await hashPassword(password) }
  }

  return {
    lookUps: {
      async findByPassword(email, password) {
        const find = () => ask(email, password)
        const key = email.toLowerCase()
        const question = { kind: 'account', key, find, markOf: markOfFound } as const
        try {
          const account = await callers.find(question)
          return account && (await verify(account.passwordHash, password)) ? account : undefined
        } catch (error) {
          if (error instanceof WrongPassword) return undefined
          await verify(await decoy, password)
          throw error
        }
      },
      findByToken(digest) {
        const hash = digest.toString('hex')
        const find = async () => {
          const { owner } = await main.ask('token', { hash }, tokenAnswer)
          return owner
            ? { ...owner, ...noRole, tokenRole: null, hasTotp: false, usedAt: null }
            : undefined
        }
        return callers.find({ kind: 'token', key: hash, find })
      },
    },
    listLimits: async () => (await main.ask('limits', {}, limitsAnswer)).limits,
  }
}

const noRole = { role: null, roleUntil: null }
const markOfFound = ({ mark }: { mark: string }) => mark
