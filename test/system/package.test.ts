import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { releasedFile, reportsOne, run, systemEnv } from './installed.ts'

const folder = await mkdtemp(path.join(tmpdir(), 'signalpost-package-'))
// PostgreSQL runs as another account if the tests run as root.
await chmod(folder, 0o755)
afterAll(() => rm(folder, { recursive: true, force: true }))

const archive = await releasedFile('.tgz')

test('the package installed globally reports one message, on its own Node.js', async () => {
  await run('npm', ['install', '-g', '--prefix', folder, archive], { cwd: folder })
  const program = path.join(folder, 'bin/signalpost')
  const { version } = JSON.parse(await readFile('package.json', 'utf8')) as { version: string }
  const says = await run(program, ['version'], { cwd: folder })
  expect(says).toMatch(new RegExp(`^Signalpost ${version}\nNode\\.js 26\\..*\nSchema \\d{4}_`))
  await reportsOne((place) => place.startBy([program, 'start'], systemEnv))
})

test('the package reports one message when npx runs it', async () => {
  await reportsOne((place) =>
    place.startBy(['npx', '--yes', '--package', archive, 'signalpost', 'start'], systemEnv),
  )
})

test('the package contains the clients that it serves', async () => {
  const script = `
    const reporting = '${folder}/lib/node_modules/signalpost/dist/web/reporting/'
    const { buildThunderbird } = await import(reporting + 'thunderbird.js')
    const { buildOutlook } = await import(reporting + 'outlook.js')
    const server = 'https://spam.example'
    for (const build of [buildThunderbird, buildOutlook]) {
      console.log((await build(server)).subarray(0, 2).toString())
    }`
  const said = await run(process.execPath, ['--input-type=module', '-e', script])
  expect(said).toBe('PK\nPK\n')
})

test('errors name the lines of the source', async () => {
  const script = `
    const { readConfig } = await import('${folder}/lib/node_modules/signalpost/dist/config.js')
    try {
      readConfig({ HTTP_PORT: 'x' }, { cores: 1, cwd: '/' })
    } catch (error) {
      console.log(error.stack)
    }`
  const stack = await run(process.execPath, [
    '--enable-source-maps',
    '--input-type=module',
    '-e',
    script,
  ])
  expect(stack).toMatch(/signalpost\/src\/config\.ts:\d+/)
})
