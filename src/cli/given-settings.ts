import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { parseEnv } from 'node:util'
import { variableNames } from '../config.ts'
import { distanceOf } from '../verdict/rules/similar-names.ts'

/** Where a command runs: what Node.js was started with, and the working directory. */
export type Surroundings = { env: NodeJS.ProcessEnv; execArgv: readonly string[]; cwd: string }

export type Given = { name: string; value: string; file: string }

export const pathNames: readonly string[] = [
  ...['DATA_DIR', 'BACKUP_DIR', 'SPOOL_DIR', 'LISTS_DIR', 'ALARM_FILE', 'ALARM_COMMAND'],
  ...['DKIM_KEY_FILE', 'RECEIVE_TLS_CERT_FILE', 'RECEIVE_TLS_KEY_FILE'],
]

/** Variables that a file of settings may have for Node.js and the libraries of the system. */
const OF_OTHERS = /^(NODE_|SSL_|UV_|LC_|PG)|^(TZ|LANG|PATH|HOME|TMPDIR|(HTTPS?|NO)_PROXY)$/i

/** Returns the variables in the files that Node.js has read, by `--env-file`. */
export async function readGiven({ execArgv, cwd }: Surroundings): Promise<Given[]> {
  const files = execArgv.flatMap((argument) => {
    const [, file] = /^--env-file(?:-if-exists)?=(.+)$/.exec(argument) ?? []
    return file === undefined ? [] : [path.resolve(cwd, file)]
  })
  const read = files.map(async (file) => {
    const text = await readFile(file, 'utf8').catch(() => '')
    return Object.entries(parseEnv(text)).map(([name, value = '']) => ({ name, value, file }))
  })
  return (await Promise.all(read)).flat()
}

/** The variables of files that are no settings, in sentences. */
export function unknownIn(given: readonly Pick<Given, 'name'>[]): { says: string; todo: string }[] {
  const names = new Set(given.map(({ name }) => name))
  return [...names]
    .toSorted()
    .filter((name) => !variableNames.includes(name) && !OF_OTHERS.test(name))
    .map((name) => ({
      says: `There is no setting ${name}, so it has no effect.`,
      todo: adviceFor(nearestSetting(name, Math.max(2, Math.floor(name.length / 3)))),
    }))
}

/** Variables of an environment that look like a misspelled setting, in sentences. */
export function misspelledIn(env: NodeJS.ProcessEnv): { says: string; todo: string }[] {
  const names = Object.keys(env).filter(
    (name) => !variableNames.includes(name) && !OF_OTHERS.test(name) && name.includes('_'),
  )
  return names.flatMap((name) => {
    const nearest = nearestSetting(name, 2)
    const says = `There is no setting ${name}, so the variable of the environment has no effect.`
    return nearest === undefined ? [] : [{ says, todo: adviceFor(nearest) }]
  })
}

function adviceFor(nearest: string | undefined): string {
  return nearest === undefined
    ? 'Remove it, or correct its name: .env.example lists all settings.'
    : `Did you mean ${nearest}?`
}

/** The setting with the most similar name, if at most `most` typing mistakes tell them apart. */
export function nearestSetting(name: string, most: number): string | undefined {
  const near = variableNames
    .filter((one) => Math.abs(one.length - name.length) <= most)
    .map((one) => ({ one, mistakes: distanceOf(name, one) }))
    .toSorted((one, other) => one.mistakes - other.mistakes)[0]
  return near && near.mistakes <= most ? near.one : undefined
}

/** The relative paths in files, in sentences. Processes may differ in their working directory. */
export function relativeIn(
  given: readonly Pick<Given, 'name' | 'value'>[],
  cwd: string,
): { says: string; todo: string }[] {
  return given
    .filter(({ name, value }) => pathNames.includes(name) && value && !path.isAbsolute(value))
    .map(({ name, value }) => ({
      says: `${name}=${value} is a relative path, so it depends on the working directory.`,
      todo: `Write the absolute path, such as ${name}=${path.resolve(cwd, value)}.`,
    }))
}
