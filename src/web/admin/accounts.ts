import { type Request, type Response, Router } from 'express'
import { findSignUp, listAccounts, listSignUps } from '../../db/accounts.ts'
import { insertAudit } from '../../db/audit-log.ts'
import { inTransaction } from '../../db/pool.ts'
import { findAccount } from '../../db/reporters.ts'
import { askForAccount } from '../../letters/account-letters.ts'
import { storableText } from '../../mail/text.ts'
import { disableAccount, enableAccount } from '../../people/accounts.ts'
import { type Form, type FormReader, readShortForm } from '../pages/form.ts'
import { isUuid, pageOf, queryOf } from '../pages/render.ts'
import { requireReporter } from '../pages/signed-in.ts'
import type { Site } from '../site.ts'
import { sendAdminPage } from './send-admin-page.ts'

type Needs = Pick<Site, 'pool' | 'boss' | 'clock' | 'config' | 'publicUrl'> & FormReader

const LINES = 50
const ADDRESS_CHARS_MAX = 320

const deeds = {
  disabled: 'Account disabled. Its sessions and tokens no longer work.',
  enabled: 'Account enabled.',
  written: 'The confirmation link has been sent again.',
  'last-admin': 'This is the last administrator. Make another account an administrator first.',
  nothing: 'Nothing changed. The account or sign-up may already have been changed or removed.',
}

/** The page with accounts and pending sign-ups, on which an account can be disabled. */
export function accountAdminRoutes(site: Needs): Router {
  const router = Router()
  router.get('/', (req, res) => sendAccounts(req, res, site))
  router.post('/', async (req, res) => {
    const form = await readShortForm(req, res, site)
    const administrator = requireReporter(req, res)
    if (!administrator) return
    const deed = { at: site.clock(), reporterId: administrator.id }
    const done =
      form.text('do') === 'write'
        ? await writeAgain(form, deed, site)
        : await change(form, deed, site)
    res.redirect(303, `/admin/accounts${queryOf({ done, begin: form.text('begin') })}`)
  })
  return router
}

async function change(
  form: Form,
  deed: { at: Date; reporterId: string },
  { pool }: Needs,
): Promise<keyof typeof deeds> {
  const id = form.text('id')
  const account = isUuid(id) ? await findAccount(pool, id) : undefined
  if (!account) return 'nothing'
  const isDisabling = form.text('do') === 'disable'
  const outcome = await inTransaction(pool, (tx) =>
    isDisabling ? disableAccount(tx, account, deed) : enableAccount(tx, account, deed),
  )
  if (outcome !== 'done') return outcome
  return isDisabling ? 'disabled' : 'enabled'
}

/** Sends a new sign-up link and invalidates the old one, as if the person had signed up again. */
async function writeAgain(
  form: Form,
  deed: { at: Date; reporterId: string },
  site: Needs,
): Promise<keyof typeof deeds> {
  const link = await findSignUp(site.pool, form.text('address') ?? '', deed.at)
  if (!link || link.consent === null) return 'nothing'
  const { address, language, consent } = link
  await askForAccount({ address, language, consent }, site)
  await insertAudit(site.pool, { ...deed, action: 'confirm again', detail: 'A sign-up.' })
  return 'written'
}

async function sendAccounts(req: Request, res: Response, site: Needs): Promise<void> {
  const given = new URL(req.originalUrl, 'http://site').searchParams
  const text = (name: string) => storableText(given.get(name) ?? '', ADDRESS_CHARS_MAX)
  const [begin, after, done] = [text('begin').toLowerCase(), text('after'), text('done')]
  const page = { begin, after: after || undefined, limit: LINES + 1 }
  const rows = await listAccounts(site.pool, page)
  const { lines, next } = pageOf(rows, LINES, ({ email }) => ({ begin, after: email }))
  const isFirst = after === ''
  sendAdminPage(req, res, {
    view: 'admin/accounts/list',
    title: 'Accounts',
    data: {
      lines,
      next,
      begin,
      isFirst,
      signUps: isFirst ? await listSignUps(site.pool, site.clock(), LINES) : [],
      done: Object.hasOwn(deeds, done) ? deeds[done as keyof typeof deeds] : undefined,
    },
  })
}
