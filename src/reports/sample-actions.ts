import { z } from 'zod'
import { type ActionContext, defineAction } from '../actions.ts'
import { deleteSampleActivity } from '../activity/families.ts'
import { insertKarma } from '../db/reputations.ts'
import { insertReporter, listReportersAt } from '../db/reporters.ts'
import { hasReportsOfOthers } from '../db/reports.ts'
import { DAY_MS } from '../durations.ts'
import { send } from '../queue/boss.ts'
import { uuidv7 } from '../world.ts'
import { beginErasure } from './erase-account.ts'
import { fillSampleReports, ownDomain, SAMPLE_DOMAIN } from './queues.ts'

/** The time before now over which the sample reports are spread. */
export const SAMPLE_DAYS = 30

const names = ['ann', 'bob', 'carol', 'dan', 'eve', 'frank', 'grace', 'heidi', 'ivan', 'judy']

/** Who tries the site may sign up and report some messages before looking for sample data. */
const OWN_REPORTS_MAX = 20

/**
 * Adds sample accounts and queues their reports. Only an instance without a mail server and with
 * few other reports gets them, so that they never count among real ones.
 */
export const fillSamples = defineAction({
  name: 'samples fill',
  summary: 'fill a trial with the sample reports of a month',
  audit: 'fill samples',
  role: 'administrator',
  input: z.object({}),
  async run(tx, _, { at, boss, config }: ActionContext<'boss' | 'config'>) {
    if ((await listReportersAt(tx, SAMPLE_DOMAIN)).length > 0) return { unchanged: 'present' }
    const isReal =
      config.smtpUrl !== undefined || (await hasReportsOfOthers(tx, ownDomain, OWN_REPORTS_MAX))
    if (isReal) return { unchanged: 'real' }
    const createdAt = new Date(at.getTime() - (SAMPLE_DAYS + 1) * DAY_MS)
    for (const name of names) {
      const [id, email] = [uuidv7(createdAt), `${name}@${SAMPLE_DOMAIN}`]
      await insertReporter(tx, { id, email, passwordHash: null, role: null, createdAt })
      await insertKarma(tx, { reporterId: id, isVouched: true, now: createdAt })
    }
    await send(boss, fillSampleReports, [{}], tx)
    return { done: 'filling', audit: `${names.length} accounts` }
  },
})

/**
 * Erases the sample accounts with all their reports, as an account is erased that asks for it. The
 * last erasure removes what the reports left.
 */
export const removeSamples = defineAction({
  name: 'samples remove',
  summary: 'remove the sample reports and their accounts',
  audit: 'remove samples',
  role: 'administrator',
  input: z.object({}),
  async run(tx, _, app: ActionContext<'boss' | 'pool' | 'clock'>) {
    const accounts = await listReportersAt(tx, SAMPLE_DOMAIN)
    if (accounts.length === 0) return { unchanged: 'none' }
    await deleteSampleActivity(tx)
    return {
      done: 'removing',
      audit: `${accounts.length} accounts`,
      afterwards: async () => {
        for (const account of accounts) await beginErasure(app, account, 'remove')
      },
    }
  },
})
