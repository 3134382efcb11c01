import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { readTexts, requireTranslations } from './texts/faults.ts'

/**
 * `npm run release`: writes the files of a release to `var/release`: the package of npm, the Debian
 * package, the list of their contents (CycloneDX), the notes from CHANGELOG.md, and the checksums.
 * The same commit gives the same bytes. `--without-deb` leaves the Debian package out. It refuses
 * unfinished translations (`npm run texts`).
 */
const { values } = parseArgs({
  options: {
    out: { type: 'string', default: 'var/release' },
    'without-deb': { type: 'boolean', default: false },
  },
})
const root = path.join(import.meta.dirname, '..')
const out = path.resolve(root, values.out)
const { version } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')) as {
  version: string
}
/** When the commit was made, in seconds. `dpkg-deb` gives newer files this time. */
const committedAt = run('git', ['log', '-1', '--format=%ct'], {}).trim()
const environment = { SOURCE_DATE_EPOCH: committedAt }
const notes = await readNotes()
requireTranslations(readTexts())

// npm packs the files with the permissions that they have.
process.umask(0o022)
run('sh', ['-c', 'git ls-files -z | xargs -0 chmod u=rwX,go=rX'])
await rm(out, { recursive: true, force: true })
await mkdir(out, { recursive: true })
const archive = lastLine(run('npm', ['pack', '--silent', '--pack-destination', out]))
const names = [archive]
if (!values['without-deb']) {
  const given = ['--out', out, '--archive', path.join(out, archive)]
  const built = run('npm', ['run', '--silent', 'build:deb', '--', ...given])
  names.push(path.basename(lastLine(built)))
}
names.push(
  await put(`signalpost-${version}.cdx.json`, await describeContents(path.join(out, archive))),
)
names.push(await put(`signalpost-${version}-notes.md`, notes))
const sums = await Promise.all(names.map(async (name) => `${await checksum(name)}  ${name}\n`))
await put('SHA256SUMS', sums.join(''))
console.log(sums.join('').trim())

/** The entry of this version; it must exist, because it tells operators how to upgrade. */
async function readNotes(): Promise<string> {
  const text = await readFile(path.join(root, 'CHANGELOG.md'), 'utf8')
  const entry = text.split(/^(?=## )/m).find((part) => part.startsWith(`## ${version}`))
  if (entry?.includes('### Upgrade') !== true) {
    throw new Error(`CHANGELOG.md has no entry "## ${version}" with a part "### Upgrade".`)
  }
  return entry
}

/**
 * The software bill of materials of the package of npm, without what npm puts into it about this
 * moment and this machine: a random number, the time, and the name of the folder. npm reads the
 * files of the package, because in the checkout it leaves out what developers need as well.
 */
async function describeContents(archive: string): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'signalpost-contents-'))
  try {
    run('tar', ['-xzf', archive, '--strip-components=1', '-C', folder])
    const file = path.join(folder, 'package.json')
    const { devDependencies: _dev, ...shipped } = JSON.parse(await readFile(file, 'utf8')) as {
      devDependencies: object
    }
    await writeFile(file, JSON.stringify(shipped))
    const list = JSON.parse(
      run('npm', ['sbom', '--sbom-format=cyclonedx', '--package-lock-only', '--prefix', folder]),
    ) as { serialNumber?: string; metadata: { timestamp: string; component: object } }
    delete list.serialNumber
    list.metadata.timestamp = new Date(Number(committedAt) * 1_000).toISOString()
    Object.assign(list.metadata.component, { name: 'signalpost', type: 'application' })
    return `${JSON.stringify(list, null, 2)}\n`
  } finally {
    await rm(folder, { recursive: true })
  }
}

async function put(name: string, content: string): Promise<string> {
  await writeFile(path.join(out, name), content)
  return name
}

async function checksum(name: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(path.join(out, name)))
    .digest('hex')
}

function lastLine(printed: string): string {
  return printed.trim().split('\n').at(-1) ?? ''
}

function run(file: string, args: readonly string[], env: object = environment): string {
  return execFileSync(file, args, {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, ...env },
    maxBuffer: 100_000_000,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}
