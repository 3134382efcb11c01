import type { Router } from 'express'
import { listReceivingHosts } from '../../db/receiving-hosts.ts'
import {
  addMailSource,
  mailSourceKinds,
  readMailSources,
  removeSource,
  SOURCE_DAYS,
} from '../../reports/mail-sources.ts'
import { addReceivingHost, dropReceivingHost } from '../../reports/receiving-hosts.ts'
import type { Site } from '../site.ts'
import { listPage } from './list-page.ts'

/** The page of spam traps and feedback loops: what they received, and forms to change them. */
export function sourceRoutes(site: Site): Router {
  return listPage(site, {
    view: 'admin/sources',
    title: 'sources.title',
    read: () => readMailSources(site.pool, site.clock()),
    data: () => ({ kinds: mailSourceKinds, days: SOURCE_DAYS }),
    form: { actions: { add: addMailSource, remove: removeSource } },
  })
}

/** The page of the hosts that receive mail for domains, with forms to change them. */
export function mailServerRoutes(site: Site): Router {
  return listPage(site, {
    view: 'admin/mail-servers',
    title: 'mailServers.title',
    read: () => listReceivingHosts(site.pool),
    form: { actions: { add: addReceivingHost, remove: dropReceivingHost } },
  })
}
