import { existsSync } from 'node:fs'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parse as parseYaml } from 'yaml'
import { afterAll, expect, test } from 'vitest'
import { variableNames } from '../../src/config.ts'
import { freePort } from '../../src/db/embedded.ts'
import { startCommand } from '../support/process.ts'
import { basic } from '../support/reporter.ts'
import { run, systemEnv, takesReport } from './installed.ts'

/**
 * The Debian package in a new Debian, made by debootstrap: installed with the steps of the
 * Dockerfile, upgraded, removed and purged. Without root there is no chroot.
 */
const isRoot = process.getuid?.() === 0
const folder = await mkdtemp(path.join(tmpdir(), 'signalpost-debian-'))
const debian = path.join(folder, 'root')
const mounts: string[] = []
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

test.runIf(isRoot)(
  'the Debian package is installed, reports one message, is upgraded, removed and purged',
  { timeout: 1_800_000 },
  async () => {
    await makeDebian()
    const dockerfile = await readSteps()
    await run('npm', ['run', 'build:deb', '--', '--out', path.join(folder, 'var/release')])
    const [from = '', to = ''] = dockerfile.of('COPY').split(' ')
    const [architecture] = (await run('dpkg', ['--print-architecture'])).split('\n')
    const { version } = JSON.parse(await readFile('package.json', 'utf8')) as { version: string }
    const name = from.replace('*', version).replace('${TARGETARCH}', architecture ?? '')
    const archive = path.join(folder, name)
    await cp(archive, at(to))
    await inside(dockerfile.of('RUN'))
    expect(await inside('stat -c "%U:%G %a" /etc/signalpost/signalpost.env')).toBe(
      'root:signalpost 640\n',
    )
    await expect(inside('cat /etc/signalpost/signalpost.env', 'nobody:nogroup')).rejects.toThrow()

    const port = await freePort()
    const settings = {
      ...Object.fromEntries(
        dockerfile
          .of('ENV')
          .split(' ')
          .map((word) => word.split('=') as [string, string]),
      ),
      ...systemEnv,
      HTTP_PORT: String(port),
      RECEIVE_PORT: String(await freePort()),
      RDAP_BOOTSTRAP_URL: 'none',
    }
    const user = `${dockerfile.of('USER')}:signalpost`
    const start = [...words(dockerfile.of('ENTRYPOINT')), ...words(dockerfile.of('CMD'))]
    const program = startCommand(['chroot', `--userspec=${user}`, debian, ...start], settings)
    const health = dockerfile.of('HEALTHCHECK').replace(/^.*? CMD /, `HTTP_PORT=${port} `)
    await program.says(/Press Ctrl-C to stop\./)
    const accounts = await readFile(at('var/lib/signalpost/accounts.json'), 'utf8')
    const { reporter } = JSON.parse(accounts) as { reporter: { email: string; password: string } }
    await takesReport(`http://127.0.0.1:${port}`, basic(reporter))
    await inside(health, user)
    expect(await program.stop()).toEqual({ code: 0, signal: null })
    await expect(inside(health, user)).rejects.toThrow()

    // The log of its own PostgreSQL is rotated, and stays writable.
    await inside('logrotate --force /etc/logrotate.d/signalpost')
    expect(existsSync(at('var/lib/signalpost/postgres.log.1.gz'))).toBe(true)

    await inside('echo SIGN_UP=closed >>/etc/signalpost/signalpost.env')
    await inside(`dpkg -i /${path.basename(await newerPackage(archive))}`)
    expect(await inside('cat /etc/signalpost/signalpost.env')).toContain('SIGN_UP=closed')
    expect(await inside('dpkg-query -W signalpost')).toContain('99.0.0')

    await inside('dpkg --remove signalpost')
    expect(existsSync(at('usr/lib/signalpost'))).toBe(false)
    expect(existsSync(at('var/lib/signalpost/accounts.json'))).toBe(true)
    await inside('dpkg --purge signalpost')
    for (const gone of ['var/lib/signalpost', 'etc/signalpost', 'etc/logrotate.d/signalpost']) {
      expect(existsSync(at(gone))).toBe(false)
    }
    await expect(inside('id signalpost')).rejects.toThrow()
  },
)

/** Makes a minimal Debian with what containers have: its own /dev/shm, and /proc as in the unit. */
async function makeDebian(): Promise<void> {
  const made = ['--variant=minbase', '--include=logrotate', 'bookworm', debian]
  await run('debootstrap', made)
  const proc = ['-t', 'proc', '-o', 'subset=pid,hidepid=invisible', 'proc', at('proc')]
  for (const mount of [proc, ['-t', 'tmpfs', '-o', 'mode=1777', 'tmpfs', at('dev/shm')]]) {
    await run('mount', mount)
    mounts.push(mount.at(-1) ?? '')
  }
}

/** Reads the Dockerfile; `of` returns the arguments of an instruction, its lines joined. */
async function readSteps(): Promise<{ of: (instruction: string) => string }> {
  const text = (await readFile('Dockerfile', 'utf8')).replaceAll(/\\\n\s*/g, '')
  expect(text).toMatch(/^FROM debian:bookworm-slim$/m)
  return { of: (word) => new RegExp(`^${word} (.*)$`, 'm').exec(text)?.[1] ?? '' }
}

/** The words of an instruction in the form of JSON. */
function words(instruction: string): string[] {
  return JSON.parse(instruction) as string[]
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
