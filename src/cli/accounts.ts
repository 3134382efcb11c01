import type { App } from '../app.ts'
import { listAccounts } from '../db/accounts.ts'
import { type Db, inTransaction } from '../db/pool.ts'
import { type Account, findReporterByEmail } from '../db/reporters.ts'
import { removeTotp } from '../db/sessions.ts'
import { UsageError } from '../errors.ts'
import { disableAccount, enableAccount } from '../people/accounts.ts'

const deeds = ['disable', 'enable', 'no-second-step'] as const

/** The subcommands of `account` besides `add`. */
export type AccountsRequest =
  | { do: 'list'; begin: string }
  | { do: (typeof deeds)[number]; email: string }

const LINES = 1_000

/** Parses `list [BEGINNING]`, `disable E`, `enable E` and `no-second-step E`. */
export function parseAccounts(args: readonly string[]): AccountsRequest {
  const [what, value, ...rest] = args
  const deed = deeds.find((one) => one === what)
  if (what === 'list' && rest.length === 0)
    return { do: 'list', begin: (value ?? '').toLowerCase() }
  if (deed && value?.includes('@') && rest.length === 0) return { do: deed, email: value }
  throw new UsageError(['Use "account add", "list", "disable", "enable" or "no-second-step".'])
}

/** Runs the subcommand; `told` is the text for the terminal. */
export async function runAccounts(
  request: AccountsRequest,
  app: Pick<App, 'pool' | 'clock'>,
): Promise<{ told: string; isDone: boolean }> {
  if (request.do === 'list') return { told: await listed(request.begin, app), isDone: true }
  const account = await findReporterByEmail(app.pool, request.email)
  if (!account) return { told: 'No account has this email address.\n', isDone: false }
  const outcome = await inTransaction(app.pool, (tx) => doDeed(tx, request.do, account, app))
  return { told: sentences[outcome], isDone: outcome === 'done' }
}

const sentences = {
  done: 'Done.\n',
  nothing: 'Nothing changed. The account was already in this state.\n',
  'last-admin': 'This is the last administrator. Make another account an administrator first.\n',
}

async function doDeed(
  tx: Db,
  deed: (typeof deeds)[number],
  account: Account,
  { clock }: Pick<App, 'clock'>,
): Promise<keyof typeof sentences> {
  const by = { at: clock(), reporterId: null }
  if (deed === 'disable') return disableAccount(tx, account, by)
  if (deed === 'enable') return enableAccount(tx, account, by)
  if (!account.hasTotp) return 'nothing'
  await removeTotp(tx, account.id)
  return 'done'
}

async function listed(begin: string, { pool }: Pick<App, 'pool'>): Promise<string> {
  let [text, after] = ['', undefined as string | undefined]
  for (;;) {
    const lines = await listAccounts(pool, { begin, after, limit: LINES })
    for (const { email, state, isAdmin, createdAt } of lines) {
      const day = createdAt.toISOString().slice(0, 10)
      text += `${[day, state, isAdmin ? 'administrator' : 'reporter', email].join('\t')}\n`
    }
    after = lines.at(-1)?.email
    if (lines.length < LINES) return text
  }
}
