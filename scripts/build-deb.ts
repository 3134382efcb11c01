import { execFileSync } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'

/**
 * `npm run build:deb`: writes `var/release/signalpost_VERSION_ARCHITECTURE.deb`, for the
 * architecture of this machine, from the package that `npm pack` makes, or from the one in
 * `--archive FILE`. Needs `dpkg-deb`. With the time of the commit in SOURCE_DATE_EPOCH, the same
 * commit gives the same bytes.
 */
const { values } = parseArgs({
  options: {
    version: { type: 'string' },
    archive: { type: 'string' },
    out: { type: 'string', default: 'var/release' },
  },
})
const root = path.join(import.meta.dirname, '..')
const source = path.join(root, 'deploy/debian')
const architecture = execFileSync('dpkg', ['--print-architecture'], { encoding: 'utf8' }).trim()
const version = values.version ?? (await versionOf(path.join(root, 'package.json')))

const out = path.resolve(root, values.out)
await mkdir(out, { recursive: true })
const tree = await mkdtemp(path.join(tmpdir(), 'signalpost-deb-'))
try {
  await install()
  await addFiles()
  // Whatever the umask is, and the packages of npm contain.
  run('chmod', ['-R', 'u=rwX,go=rX', tree])
  const file = path.join(out, `signalpost_${version}_${architecture}.deb`)
  run('dpkg-deb', ['--root-owner-group', '-Zxz', '-z1', '--build', tree, file])
  console.log(file)
} finally {
  await rm(tree, { recursive: true })
}

/** Installs the package of npm with the versions of its lock file, without its cache. */
async function install(): Promise<void> {
  const home = path.join(tree, 'usr/lib/signalpost')
  await mkdir(home, { recursive: true })
  const archive = path.resolve(root, values.archive ?? pack())
  run('tar', ['-xzf', archive, '--strip-components=1', '-C', home])
  if (values.archive === undefined) await rm(archive)
  // npm refuses the lock file of the package here, which lacks the packages for developers.
  await rm(path.join(home, 'npm-shrinkwrap.json'))
  await cp(path.join(root, 'package-lock.json'), path.join(home, 'package-lock.json'))
  run('npm', ['ci', '--omit=dev', '--no-audit', '--loglevel=error', '--prefix', home])
  await mkdir(path.join(tree, 'usr/bin'))
  await symlink('../lib/signalpost/bin/signalpost', path.join(tree, 'usr/bin/signalpost'))
}

function pack(): string {
  const packed = run('npm', ['pack', '--silent', '--pack-destination', tree])
  return path.join(tree, packed.trim().split('\n').at(-1) ?? '')
}

async function addFiles(): Promise<void> {
  await put('control', 'DEBIAN/control', (text) =>
    text.replace('@VERSION@', version).replace('@ARCHITECTURE@', architecture),
  )
  await put('conffiles', 'DEBIAN/conffiles')
  for (const script of ['postinst', 'prerm', 'postrm']) await put(script, `DEBIAN/${script}`)
  await put('signalpost.env', 'etc/signalpost/signalpost.env')
  await put('logrotate', 'etc/logrotate.d/signalpost')
  const units = 'usr/lib/systemd/system'
  await put('../systemd/signalpost.service', `${units}/signalpost.service`)
  await put('../systemd/signalpost.service', `${units}/signalpost@.service`, (text) =>
    text
      .replace(/^#.*\n/, '# One process, such as signalpost@web.service.\n')
      .replace(/^Description=.*$/m, 'Description=Signalpost: %i')
      .replace('signalpost start', 'signalpost %i'),
  )
  const generators = 'usr/lib/systemd/system-generators'
  await put('../systemd/signalpost-generator', `${generators}/signalpost`)
  await mkdir(path.join(tree, 'usr/share/doc/signalpost'), { recursive: true })
  await cp(path.join(root, 'LICENSE'), path.join(tree, 'usr/share/doc/signalpost/copyright'))
}

/** Copies a file into the package. Scripts become executable, all else readable. */
async function put(name: string, to: string, change = (text: string) => text): Promise<void> {
  const text = await readFile(path.join(source, name), 'utf8')
  const file = path.join(tree, to)
  await mkdir(path.dirname(file), { recursive: true, mode: 0o755 })
  await writeFile(file, change(text), { mode: text.startsWith('#!') ? 0o755 : 0o644 })
}

async function versionOf(file: string): Promise<string> {
  return (JSON.parse(await readFile(file, 'utf8')) as { version: string }).version
}

function run(file: string, args: readonly string[]): string {
  return execFileSync(file, args, {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}
