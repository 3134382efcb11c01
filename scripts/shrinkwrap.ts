import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'

/**
 * Run by `npm pack`: writes `npm-shrinkwrap.json`, the lock file without the packages for
 * developers. The list of contents of a release is made from it. npm installs exactly these
 * versions if the package comes from a registry, but not from a file. npm removes it afterwards
 * (`postpack`), because `npm ci` would prefer it to `package-lock.json`.
 */
type Lock = { packages: Record<string, { dev?: true; devDependencies?: object }> }

const root = path.join(import.meta.dirname, '..')
const lock = JSON.parse(await readFile(path.join(root, 'package-lock.json'), 'utf8')) as Lock
const packages = Object.fromEntries(Object.entries(lock.packages).filter(([, { dev }]) => !dev))
delete packages['']?.devDependencies
const text = JSON.stringify({ ...lock, packages }, null, 2)
await writeFile(path.join(root, 'npm-shrinkwrap.json'), `${text}\n`)
