import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { recipe } from './recipes.ts'

const main = path.join(import.meta.dirname, '../../src/main.ts')

/** Writes the documented pipe script with its settings; returns its path. */
export async function writePipeScript(
  folder: string,
  settings: Readonly<Record<string, string>>,
): Promise<string> {
  const [script, env] = [path.join(folder, 'receive'), path.join(folder, 'settings.env')]
  const lines = Object.entries(settings).map(([name, value]) => `${name}='${value}'\n`)
  await writeFile(env, lines.join(''))
  const text = recipe('/usr/local/bin/signalpost-receive', {
    '/etc/signalpost.env': env,
    '/usr/bin/node': process.execPath,
    '/opt/signalpost/src/main.ts': main,
  })
  await writeFile(script, text, { mode: 0o755 })
  return script
}
