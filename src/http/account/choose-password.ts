import type { Request, Response } from 'express'
import { type AccountLink, findAccountLink } from '../../db/account-links.ts'
import { linkHash } from '../../letters/account/owe-account-letter.ts'
import { sendPage } from '../pages/render.ts'
import { visitOf } from '../pages/visit.ts'
import { shownLine } from '../shown-text.ts'
import type { Site } from '../site.ts'
import { filled } from './account-form.ts'

/** Behind which links a password is chosen. */
type Purpose = 'confirm' | 'reset'

/** The link of the page's address, if it still holds. Looking uses nothing up. */
export function findOpenLink(
  req: Request<{ token: string }>,
  purpose: Purpose,
  { pool, clock }: Pick<Site, 'pool' | 'clock'>,
): Promise<AccountLink | undefined> {
  return findAccountLink(pool, purpose, linkHash(req.params.token), clock())
}

/** The page on which a password is chosen; `fault` says what was wrong with the one given. */
export function sendChoosePassword(
  req: Request,
  res: Response,
  purpose: Purpose,
  { address }: AccountLink,
  fault?: string,
): void {
  const { title, lead, submit } = visitOf(req).words.account[purpose]
  sendPage(req, res, {
    view: 'pages/account/choose-password',
    title,
    status: fault === undefined ? 200 : 422,
    data: {
      lead: filled(lead, { address: shownLine(address) }),
      submit,
      email: address,
      faults: fault === undefined ? {} : { password: fault },
    },
  })
}
