import { createHash } from 'node:crypto'
import { copyFile, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expectedMigrations } from '../src/db/installation.ts'
import { makePlace, untilRunning } from '../test/support/instance.ts'
import { spamMessage } from '../test/support/messages.ts'
import { runProgram } from '../test/support/process.ts'
import { apiClient, basic } from '../test/support/reporter.ts'

// Stores a database of this version, which all later versions must be able to upgrade, and the
// checksums of its migrations, which may not change any more. Run it once for each release.
const REPORTS = 200
const BYTES_MAX = 3_000_000
const KINDS = ['spam', 'phishing', 'not-spam']

const root = path.join(import.meta.dirname, '..')
const { version } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')) as {
  version: string
}
const folder = path.join(root, 'test', 'fixtures', 'releases')
await mkdir(folder, { recursive: true })

const place = await makePlace()
try {
  const program = await untilRunning(place.start())
  const { admin, reporter } = await place.accounts()
  const ids = await report([basic(admin), basic(reporter)])
  const client = apiClient(place.url, basic(admin))
  await Promise.all(ids.map((id) => client.untilEvent(id, 'analyzed')))
  // A process that stops removes its row, which has the name of the machine.
  await program.stop()
  const made = await runProgram(['backup'], place.env)
  if (made.code !== 0) throw new Error(made.stderr)
  const backups = path.join(place.dataDir, 'backups')
  const [name = ''] = await readdir(backups)
  const file = path.join(folder, `${version}.backup`)
  const { size } = await stat(path.join(backups, name))
  if (size > BYTES_MAX) throw new Error(`The database takes ${size} bytes, more than ${BYTES_MAX}.`)
  await copyFile(path.join(backups, name), file)
  await writeFile(path.join(folder, `${version}.json`), await checksums())
  process.stdout.write(`Wrote ${path.relative(root, file)}, ${size} bytes.\n`)
} finally {
  await place.clear()
}

/** Reports messages of several kinds, from several networks, by each reporter in turn. */
async function report(authorizations: readonly string[]): Promise<string[]> {
  const ids: string[] = []
  for (let number = 0; number < REPORTS; number++) {
    const authorization = authorizations[number % authorizations.length] ?? ''
    const kind = KINDS[number % KINDS.length] ?? 'spam'
    const ip = `198.51.100.${(number % 250) + 1}`
    const answer = await fetch(`${place.url}/api/v1/reports?kind=${kind}`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'message/rfc822' },
      body: spamMessage(`release-${number}`, { ip }),
    })
    ids.push(((await answer.json()) as { id: string }).id)
  }
  return ids
}

async function checksums(): Promise<string> {
  const sums: Record<string, string> = {}
  for (const name of await expectedMigrations()) {
    const text = await readFile(path.join(root, 'migrations', `${name}.sql`))
    sums[name] = createHash('sha256').update(text).digest('hex')
  }
  return `${JSON.stringify(sums, null, 2)}\n`
}
