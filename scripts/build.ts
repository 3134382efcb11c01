import { execFileSync } from 'node:child_process'
import { cp, rm } from 'node:fs/promises'
import path from 'node:path'

/**
 * `npm run build`: writes `dist`, the program as JavaScript with source maps, because Node.js does
 * not strip types inside `node_modules`. `dist` has the folders of `src`, with the other files of
 * `src` copied, so that the program finds them at the same relative paths.
 */
const root = path.join(import.meta.dirname, '..')
const dist = path.join(root, 'dist')
await rm(dist, { recursive: true, force: true })
const compiler = path.join(root, 'node_modules/typescript/bin/tsc')
execFileSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], {
  cwd: root,
  stdio: 'inherit',
})
await cp(path.join(root, 'src'), dist, {
  recursive: true,
  filter: (file) => !/\.(ts|md)$/.test(file),
})
