import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { buildThunderbird } from './clients/thunderbird.ts'

/** `npm run build:clients`: writes the clients to install to `var/clients`. */
const folder = path.join(import.meta.dirname, '../var/clients')
await mkdir(folder, { recursive: true })
const file = path.join(folder, 'signalpost-thunderbird.xpi')
await writeFile(file, await buildThunderbird())
console.log(file)
