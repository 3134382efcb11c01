import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { run } from './installed.ts'

const folder = await mkdtemp(path.join(tmpdir(), 'signalpost-release-'))
afterAll(() => rm(folder, { recursive: true, force: true }))

test('a release built twice has the same bytes, and lists what it contains', async () => {
  const [first, second] = [await release('first'), await release('second')]
  expect(second).toEqual(first)
  const out = path.join(folder, 'first')
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

/** Builds a release; returns its checksums. */
async function release(name: string): Promise<string> {
  const out = path.join(folder, name)
  await run('npm', ['run', '--silent', 'release', '--', '--out', out, '--without-deb'])
  return readFile(path.join(out, 'SHA256SUMS'), 'utf8')
}
