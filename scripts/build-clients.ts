import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { buildOutlook } from '../src/web/reporting/outlook.ts'
import { buildThunderbird } from '../src/web/reporting/thunderbird.ts'

/**
 * `npm run build:clients -- --server https://spam.example`: writes the clients to install to
 * `var/clients`. Both are made for the service at that address; Outlook requires one.
 */
const { values } = parseArgs({ options: { server: { type: 'string' } } })
const folder = path.join(import.meta.dirname, '../var/clients')
await mkdir(folder, { recursive: true })
const server = values.server && new URL(values.server)
await keep('signalpost-thunderbird.xpi', await buildThunderbird(server ? server.origin : ''))
if (!server) {
  console.log('For the package for Outlook, add: -- --server https://ADDRESS-OF-THE-SERVICE')
} else {
  const { protocol, origin } = server
  if (protocol !== 'https:') throw new Error('Outlook only accepts https addresses.')
  await keep('signalpost-outlook.zip', await buildOutlook(origin))
}

async function keep(name: string, content: Buffer): Promise<void> {
  const file = path.join(folder, name)
  await writeFile(file, content)
  console.log(file)
}
