import { z } from 'zod'
import { listAccounts } from '../db/accounts.ts'
import { dateOf } from '../durations.ts'
import {
  disableAccount,
  enableAccount,
  grantRole,
  inviteAccount,
  removeSecondStep,
  renameAccount,
} from '../people/account-actions.ts'
import { eraseOnRequest } from '../reports/erase-account.ts'
import { defineQuery, type Operations } from './command.ts'

const LINES = 1_000

const list = defineQuery({
  name: 'account list',
  summary: 'list accounts, by the beginning of their address',
  input: z.object({ beginning: z.string().default('').meta({ argument: 'BEGINNING' }) }),
  async print({ beginning }, { pool }) {
    let [text, after] = ['', undefined as string | undefined]
    for (;;) {
      const page = { begin: beginning.toLowerCase(), after, limit: LINES }
      const lines = await listAccounts(pool, page)
      for (const { email, state, role, createdAt } of lines) {
        const day = dateOf(createdAt)
        text += `${[day, state, role ?? 'reporter', email].join('\t')}\n`
      }
      after = lines.at(-1)?.email
      if (lines.length < LINES) return text
    }
  },
})

/** The operations of `signalpost account`, except `add`. */
export const operations: Operations = [
  list,
  disableAccount,
  enableAccount,
  grantRole,
  removeSecondStep,
  inviteAccount,
  renameAccount,
  eraseOnRequest,
]
