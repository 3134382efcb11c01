import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parse as parseYaml } from 'yaml'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { variableNames } from '../../src/config.ts'
import { freePort } from '../support/free-port.ts'
import { startCommand } from '../support/process.ts'
import { basic } from '../support/reporter.ts'
import { releasedFile, run, systemEnv, takesReport } from './installed.ts'

/**
 * The Debian package and the image that is made of it, in a new Debian that debootstrap makes.
 * Without root there is no chroot.
 */
const isRoot = process.getuid?.() === 0
const LONG = { timeout: 1_800_000 }
const root = path.join(import.meta.dirname, '../..')
const folder = await mkdtemp(path.join(tmpdir(), 'signalpost-debian-'))
const debian = path.join(folder, 'root')
const mounts: string[] = []
beforeAll(async () => {
  if (!isRoot) return
  await run('debootstrap', ['--variant=minbase', '--include=logrotate', 'bookworm', debian])
  await mkdir(path.join(folder, 'var/release'), { recursive: true })
  // The Dockerfile takes the package from this folder.
  await cp(await releasedFile('.deb'), path.join(folder, 'var/release', await debName()))
}, LONG.timeout)
afterAll(async () => {
  for (const mount of mounts.toReversed()) await run('umount', [mount])
  await rm(folder, { recursive: true, force: true })
})

/** Runs a command in the chroot, as root or as another account. */
const inside = (command: string, user = 'root:root') =>
  run('chroot', [`--userspec=${user}`, debian, 'sh', '-c', command])
const at = (file: string) => path.join(debian, file)

test('the unit of systemd gives the service few rights', async () => {
  const unit = 'deploy/systemd/signalpost.service'
  const said = await run('systemd-analyze', ['security', '--offline=true', '--no-pager', unit])
  const [, exposure = '10'] = /Overall exposure level for \S+: ([\d.]+)/.exec(said) ?? []
  expect(Number(exposure)).toBeLessThan(2)
})

test('the composition is valid, and sets only settings that exist', async () => {
  const env = { SIGNALPOST_HOST: 'spam.example.org', POSTGRES_PASSWORD: 'x' }
  const shown = await run('docker-compose', ['-f', 'compose.yaml', 'config'], { env })
  const { services } = parseYaml(shown) as {
    services: { signalpost: { environment: Record<string, string> } }
  }
  const names = Object.keys(services.signalpost.environment)
  expect(names.filter((name) => !variableNames.includes(name))).toEqual([])
})

test.runIf(isRoot)('the image is built, is healthy, and reports one message', LONG, async () => {
  await makeBaseImage()
  const dockerfile = path.join(root, 'Dockerfile')
  const built = ['--format=docker', '--pull-never', '--tag=signalpost', `--file=${dockerfile}`]
  const target = `--build-arg=TARGETARCH=${await architecture()}`
  await buildah('build', '--isolation=chroot', ...built, target, folder)
  const image = JSON.parse(await buildah('inspect', '--type=image', 'signalpost')) as Image
  const { Entrypoint, Cmd, Healthcheck } = image.Docker.config
  const container = (await buildah('from', '--pull-never', 'signalpost')).trim()
  const { url, settings } = await ownSettings()
  const given = Object.entries(settings).map(([name, value]) => `--env=${name}=${value}`)
  const within = ['run', '--isolation=chroot', '--cap-drop=all', ...given, container, '--']
  const start = [...storage, ...within, ...Entrypoint, ...Cmd]
  const program = startCommand(['buildah', ...start], systemEnv)
  await program.says(/Press Ctrl-C to stop\./)
  const accounts = await buildah(...within, 'cat', '/var/lib/signalpost/accounts.json')
  await takesReport(url, reporterIn(accounts))
  const check = () => buildah(...within, 'sh', '-c', Healthcheck.Test[1])
  await check()
  await program.stop()
  await expect(check()).rejects.toThrow()
})

test.runIf(isRoot)(
  'the Debian package is installed, reports one message, is upgraded, removed and purged',
  LONG,
  async () => {
    await mountInside()
    const archive = await releasedFile('.deb')
    await cp(archive, at('signalpost.deb'))
    await inside('apt-get update && apt-get install -y --no-install-recommends /signalpost.deb')
    expect(await inside('stat -c "%U:%G %a" /etc/signalpost/signalpost.env')).toBe(
      'root:signalpost 640\n',
    )
    await expect(inside('cat /etc/signalpost/signalpost.env', 'nobody:nogroup')).rejects.toThrow()

    const { url, settings } = await ownSettings()
    const start = ['--userspec=signalpost:signalpost', debian, 'signalpost', 'start']
    const program = startCommand(['chroot', ...start], { ...systemEnv, ...settings })
    await program.says(/Press Ctrl-C to stop\./)
    const accounts = await readFile(at('var/lib/signalpost/accounts.json'), 'utf8')
    await takesReport(url, reporterIn(accounts))
    expect(await program.stop()).toEqual({ code: 0, signal: null })

    // The log of its own PostgreSQL is rotated, and stays writable.
    await inside('logrotate --force /etc/logrotate.d/signalpost')
    expect(existsSync(at('var/lib/signalpost/postgres.log.1.gz'))).toBe(true)

    await inside('echo SIGN_UP=closed >>/etc/signalpost/signalpost.env')
    await inside(`dpkg -i /${path.basename(await newerPackage(archive))}`)
    expect(await inside('cat /etc/signalpost/signalpost.env')).toContain('SIGN_UP=closed')
    expect(await inside('dpkg-query -W signalpost')).toContain('99.0.0')

    // A settings file that the operator has deleted stays away.
    await inside('rm /etc/signalpost/signalpost.env && dpkg-reconfigure signalpost')

    await inside('dpkg --remove signalpost')
    expect(existsSync(at('usr/lib/signalpost'))).toBe(false)
    expect(existsSync(at('var/lib/signalpost/accounts.json'))).toBe(true)
    await inside('mkdir -p /var/lib/signalpost/backups && touch /var/lib/signalpost/backups/one')
    expect(await inside('dpkg --purge signalpost')).toContain('Kept the backups in ')
    expect(await inside('find /var/lib/signalpost -type f')).toBe(
      '/var/lib/signalpost/backups/one\n',
    )
    for (const gone of ['etc/signalpost', 'etc/logrotate.d/signalpost']) {
      expect(existsSync(at(gone))).toBe(false)
    }
    await expect(inside('id signalpost')).rejects.toThrow()
  },
)

/** Mounts what containers have: their own /dev/shm, and /proc as in the unit. */
async function mountInside(): Promise<void> {
  const proc = ['-t', 'proc', '-o', 'subset=pid,hidepid=invisible', 'proc', at('proc')]
  for (const mount of [proc, ['-t', 'tmpfs', '-o', 'mode=1777', 'tmpfs', at('dev/shm')]]) {
    await run('mount', mount)
    mounts.push(mount.at(-1) ?? '')
  }
}

type Image = {
  Docker: {
    config: { Entrypoint: string[]; Cmd: string[]; Healthcheck: { Test: [string, string] } }
  }
}

const storage = [
  `--root=${folder}/images`,
  `--runroot=${folder}/running`,
  '--storage-driver=overlay',
]
const buildah = (...args: string[]) => run('buildah', [...storage, ...args])

/** Makes an image of the new Debian, with the name of the one that the Dockerfile begins with. */
async function makeBaseImage(): Promise<void> {
  const container = (await buildah('from', 'scratch')).trim()
  await buildah('add', '--quiet', container, debian, '/')
  await buildah('commit', '--quiet', container, 'docker.io/library/debian:bookworm-slim')
}

/** Settings with free ports, for an instance that asks nobody. */
async function ownSettings() {
  const port = await freePort()
  const settings = {
    DATA_DIR: '/var/lib/signalpost',
    HTTP_PORT: String(port),
    RECEIVE_PORT: String(await freePort()),
    RDAP_BOOTSTRAP_URL: 'none',
    DNS_SERVERS: 'none',
    MESSAGE_AGE_MAX: '0',
  }
  return { url: `http://127.0.0.1:${port}`, settings }
}

/** The credentials of the reporter in a file of first accounts. */
function reporterIn(accounts: string): string {
  const { reporter } = JSON.parse(accounts) as { reporter: { email: string; password: string } }
  return basic(reporter)
}

async function architecture(): Promise<string> {
  return (await run('dpkg', ['--print-architecture'])).trim()
}

async function debName(): Promise<string> {
  const { version } = JSON.parse(await readFile('package.json', 'utf8')) as { version: string }
  return `signalpost_${version}_${await architecture()}.deb`
}

/** Puts the same package with a higher version into the chroot. */
async function newerPackage(archive: string): Promise<string> {
  const tree = path.join(folder, 'newer')
  await run('dpkg-deb', ['-R', archive, tree])
  const control = path.join(tree, 'DEBIAN/control')
  const text = await readFile(control, 'utf8')
  await writeFile(control, text.replace(/^Version: .*$/m, 'Version: 99.0.0'))
  const file = at('signalpost-newer.deb')
  await run('dpkg-deb', ['--root-owner-group', '-Znone', '--build', tree, file])
  await rm(tree, { recursive: true })
  return file
}
