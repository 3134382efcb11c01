import { mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { builtRelease, run } from './installed.ts'

const folder = await mkdtemp(path.join(tmpdir(), 'signalpost-release-'))
afterAll(() => rm(folder, { recursive: true, force: true }))

const root = path.join(import.meta.dirname, '../..')

test('a release has the same bytes wherever it is built', { timeout: 1_800_000 }, async () => {
  const out = await builtRelease()
  const first = await readFile(path.join(out, 'SHA256SUMS'), 'utf8')
  const cwd = await copyCheckout()
  const elsewhere = { out: path.join(folder, 'second'), umask: '027', zone: 'Asia/Tokyo' }
  expect(await release({ cwd, ...elsewhere })).toEqual(first)
  expect(first).toMatch(/^\w{64} {2}signalpost_[\d.]+_\w+\.deb$/m)
  await run('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: out })
  const names = await readdir(out)
  const list = names.find((name) => name.endsWith('.cdx.json')) ?? ''
  const { bomFormat, components } = JSON.parse(await readFile(path.join(out, list), 'utf8')) as {
    bomFormat: string
    components: { name: string; version: string }[]
  }
  expect(bomFormat).toBe('CycloneDX')
  const { dependencies } = JSON.parse(await readFile('package.json', 'utf8')) as {
    dependencies: Record<string, string>
  }
  const listed = new Set(components.map(({ name, version }) => `${name}@${version}`))
  const missing = Object.entries(dependencies).filter(
    ([name, version]) => !listed.has(`${name}@${version}`),
  )
  expect(missing).toEqual([])
  expect(components.map(({ name }) => name)).not.toContain('vitest')
})

/** Copies the files of the checkout to another folder. */
async function copyCheckout(): Promise<string> {
  const other = path.join(folder, 'checkout')
  await mkdir(other)
  await run('sh', ['-c', `git ls-files -z | xargs -0 cp --parents --target-directory='${other}'`])
  await symlink(path.join(root, 'node_modules'), path.join(other, 'node_modules'))
  return other
}

type Building = { cwd: string; out: string; umask: string; zone: string }

/** Builds a release of a copy of the checkout; returns its checksums. */
async function release({ cwd, out, umask, zone }: Building): Promise<string> {
  const gitFolder = (await run('git', ['rev-parse', '--absolute-git-dir'])).trim()
  const env = { GIT_DIR: gitFolder, GIT_WORK_TREE: cwd, TZ: zone }
  await run('sh', ['-c', `umask ${umask}; npm run --silent release -- --out '${out}'`], {
    cwd,
    env,
  })
  return readFile(path.join(out, 'SHA256SUMS'), 'utf8')
}
