import { mkdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, test } from 'vitest'
import { readConfig } from '../../../src/config.ts'
import { createCollector } from '../../../src/health/heartbeat.ts'
import { systemClock, uuidv7 } from '../../../src/world.ts'
import { ringOf } from '../../support/key-ring.ts'
import { makeScratchFolder } from '../../support/scratch-folder.ts'

test('a spool that was emptied is told at the next heartbeat', async () => {
  const folder = await makeScratchFolder('facts')
  const config = readConfig({ DATA_DIR: folder }, { cores: 1, cwd: '/' })
  const databaseUrl = ''
  const now = systemClock()
  const file = path.join(folder, 'spool', `${uuidv7(now)}.closed`)
  await mkdir(path.dirname(file))
  await writeFile(file, 'an entry')
  const { facts } = createCollector(
    {
      config: { ...config, databaseUrl, secret: ringOf('a secret of at least 32 characters') },
      clock: () => now,
    },
    'web',
  )
  await expect.poll(() => facts().spool?.oldestAt).toBe(now.toISOString())
  await rm(file)
  await expect.poll(() => facts().spool?.oldestAt).toBe(null)
  await rm(folder, { recursive: true })
})
