import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { buildOutlook } from '../src/web/reporting/outlook.ts'
import { buildThunderbird } from './clients/thunderbird.ts'

/**
 * `npm run build:clients -- --server https://spam.example`: writes the clients to install to
 * `var/clients`. The package for Outlook is made for the service at that address.
 */
const { values } = parseArgs({ options: { server: { type: 'string' } } })
const folder = path.join(import.meta.dirname, '../var/clients')
await mkdir(folder, { recursive: true })
await keep('signalpost-thunderbird.xpi', await buildThunderbird())
if (values.server === undefined) {
  console.log('For the package for Outlook, add: -- --server https://ADDRESS-OF-THE-SERVICE')
} else {
  const { protocol, origin } = new URL(values.server)
  if (protocol !== 'https:') throw new Error('Outlook only accepts https addresses.')
  await keep('signalpost-outlook.zip', await buildOutlook(origin))
}

async function keep(name: string, content: Buffer): Promise<void> {
  const file = path.join(folder, name)
  await writeFile(file, content)
  console.log(file)
}
