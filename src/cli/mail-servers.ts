import { listReceivingHosts } from '../db/receiving-hosts.ts'
import { addReceivingHost, dropReceivingHost } from '../reports/receiving-hosts.ts'
import { defineQuery, type Operations } from './command.ts'

const list = defineQuery({
  name: 'mail-servers list',
  summary: 'show the hosts that receive mail for domains, as JSON lines',
  print: (_, { pool }) => listReceivingHosts(pool),
})

export const operations: Operations = [list, addReceivingHost, dropReceivingHost]
