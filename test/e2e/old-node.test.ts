import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

const root = path.join(import.meta.dirname, '../..')
const { scripts } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>
}

/** The folder of the first Node.js on the PATH that is too old; a machine may have none. */
const oldFolder = (process.env['PATH'] ?? '').split(path.delimiter).find((folder) => {
  const { stdout } = run(path.join(folder, 'node'), ['--version'])
  return Number.parseInt(stdout.slice(1), 10) < 26
})

function run(program: string, args: readonly string[], cwd = root, env = process.env) {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd, env, encoding: 'utf8' })
  // A program that does not exist has no output.
  return { status, stdout: stdout ?? '', stderr: stderr ?? '' }
}

const refusal = /^Signalpost needs Node\.js 26 or newer instead of [\d.]+: .+\.\n$/

test('npm scripts that run our code first check the version of Node.js', () => {
  const first = 'node src/require-node.js && '
  const without = Object.entries(scripts).filter(([, script]) => !script.startsWith(first))
  expect(without.map(([name]) => name)).toEqual(['prepack', 'postpack', 'format'])
  // Its first step has the check.
  expect(scripts['prepack']).toMatch(/^npm run build && /)
})

test.skipIf(!oldFolder).for(['start', 'test', 'check', 'signalpost'])(
  'under an old Node.js, npm run %s says in one sentence which one it needs',
  async (name) => {
    const folder = await mkdtemp(path.join(tmpdir(), 'signalpost-old-node-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    await mkdir(path.join(folder, 'src'))
    for (const file of ['package.json', 'src/require-node.js']) {
      await copyFile(path.join(root, file), path.join(folder, file))
    }
    const env = { ...process.env, PATH: `${oldFolder}:/usr/bin:/bin` }
    const { status, stdout, stderr } = run('npm', ['run', '--silent', name], folder, env)
    expect(stderr).toMatch(refusal)
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
  },
)

test('main.ts, read by a Node.js that is too old, says the same', () => {
  const old = `Object.defineProperty(process.versions, 'node', { value: '25.9.0' })`
  const args = [`--import=data:text/javascript,${encodeURIComponent(old)}`, 'src/main.ts', 'start']
  const { status, stdout, stderr } = run(process.execPath, args)
  expect(stderr).toMatch(refusal)
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
})

test.for([process.execPath, ...(oldFolder ? [path.join(oldFolder, 'node')] : [])])(
  'the command says in one sentence that it is run without node: %s',
  (node) => {
    const { status, stdout, stderr } = run(node, ['bin/signalpost', 'version'])
    expect(stderr).toMatch(/^signalpost: Run it without "node": .+ Node\.js 26 that it needs\.\n$/)
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
  },
)

test('the command runs by itself on the Node.js of the packages', () => {
  const env = { ...process.env, SIGNALPOST_SETTINGS: '/dev/null' }
  const { stdout } = run(path.join(root, 'bin/signalpost'), ['help'], root, env)
  expect(stdout).toMatch(/^Usage: signalpost COMMAND\n/)
})
