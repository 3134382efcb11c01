import { Router } from 'express'
import { SET_RELAYS_MAX } from '../../intake/tell-relays.ts'
import { UPLOAD_MESSAGES_MAX } from '../../intake/unpack-upload.ts'
import { WEBHOOKS_MAX } from '../../intake/webhooks/keep-webhooks.ts'
import { authenticate } from '../authenticate.ts'
import { admit } from '../limits/admit.ts'
import type { Site } from '../site.ts'
import { BULK_MAX } from './bulk.ts'
import { otherMethods } from './methods.ts'
import { sendJson } from './results.ts'
import { FILES_MAX } from './submission.ts'

/** Who asks, and what they may: `/api/v1/account`. */
export function accountApi(site: Pick<Site, 'credentials' | 'config' | 'limits'>): Router {
  const router = Router()
  router.get('/', async (req, res) => {
    const caller = await authenticate(req, site.credentials, ['bearer', 'basic'], 'any')
    const { id: reporterId, tokenHash } = caller
    await admit(req, res, site, 'read', { reporterId, tokenHash })
    sendJson(res, 200, {
      id: caller.id,
      email: caller.email,
      is_admin: caller.isAdmin,
      proved_by: caller.tokenHash ? 'token' : 'password',
      scopes: caller.scopes,
      limits: {
        message_bytes: site.config.messageBytesMax,
        files_in_a_form: FILES_MAX,
        messages_in_a_request: UPLOAD_MESSAGES_MAX,
        reports_in_bulk: BULK_MAX,
        webhooks: WEBHOOKS_MAX,
        relays: SET_RELAYS_MAX,
      },
    })
  })
  router.all('/', otherMethods('GET'))
  return router
}
