import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { buildThunderbird } from '../../src/web/reporting/thunderbird.ts'
import { makeTestFolder } from '../support/after-tests.ts'

const run = promisify(execFile)
const folder = await makeTestFolder()
const program = 'addons-linter/node_modules/addons-linter/bin/addons-linter'
const installing = 'npm ci --ignore-scripts --omit=optional --prefix test/system/addons-linter'

type Finding = { code: string; message: string }

test('the linter of add-on publishers finds nothing in the add-on for Thunderbird', async () => {
  const file = path.join(folder, 'add-on.xpi')
  await writeFile(file, await buildThunderbird())
  const linter = path.join(import.meta.dirname, program)
  const { stdout } = await run(process.execPath, [linter, '--output', 'json', file]).catch(
    (cause: unknown) => {
      throw new Error(`addons-linter failed, or is missing: ${installing}`, { cause })
    },
  )
  const { errors, warnings } = JSON.parse(stdout) as Record<'errors' | 'warnings', Finding[]>
  // It knows the permissions of Firefox only, and what is required of add-ons for Firefox.
  const ofThunderbird = /"(accountsRead|messages(Move|Read|Update))"|data_collection_permissions/
  expect([...errors, ...warnings].filter((one) => !ofThunderbird.test(one.message))).toEqual([])
  expect(warnings).toHaveLength(5)
})
