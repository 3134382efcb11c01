import { copyFile, mkdir, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, test } from 'vitest'
import { makeScratchFolder } from '../support/scratch-folder.ts'
import { startCommand } from '../support/process.ts'

const root = path.join(import.meta.dirname, '..', '..')

/** A checkout whose program prints a setting, with the program file of this one. */
async function makeCheckout(): Promise<string> {
  const folder = await makeScratchFolder('checkout')
  for (const name of ['bin', 'src']) await mkdir(path.join(folder, name))
  await copyFile(path.join(root, 'bin/signalpost'), path.join(folder, 'bin/signalpost'))
  await symlink(path.join(root, 'node_modules'), path.join(folder, 'node_modules'))
  await writeFile(path.join(folder, 'src/main.ts'), 'console.log(process.env.OPERATOR_NAME)')
  return folder
}

test('in a checkout, commands read the file .env, or the one that a variable names', async () => {
  const folder = await makeCheckout()
  const name = async (env: Record<string, string> = {}) => {
    const program = startCommand([path.join(folder, 'bin/signalpost'), 'start'], env)
    const { code } = await program.ended
    return { code, said: program.said().trim() }
  }
  expect(await name()).toEqual({ code: 0, said: 'undefined' })
  await writeFile(path.join(folder, '.env'), 'OPERATOR_NAME=Ours\n')
  expect(await name()).toEqual({ code: 0, said: 'Ours' })
  expect(await name({ OPERATOR_NAME: 'Mine' })).toEqual({ code: 0, said: 'Mine' })
  const other = path.join(folder, 'other.env')
  const named = { SIGNALPOST_SETTINGS: other }
  expect(await name(named)).toMatchObject({ code: 2, said: expect.stringContaining(other) })
  await writeFile(other, 'OPERATOR_NAME=Others\n')
  expect(await name(named)).toEqual({ code: 0, said: 'Others' })
})
