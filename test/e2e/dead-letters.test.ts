import { afterEach, expect, test } from 'vitest'
import { startBoss, stopBoss } from '../../src/queue/boss.ts'
import { spamMessage } from '../support/messages.ts'
import { makeSite, type Site } from '../support/parts.ts'
import { runProgram, until } from '../support/process.ts'

let here: Site | undefined

afterEach(async () => {
  await here?.clear()
  here = undefined
})

test('a job that keeps failing is a dead letter with its reason, and can be retried', async () => {
  here = await makeSite()
  const { client, database, env } = here
  const { pool } = database
  await here.start('web')
  const { id } = await client.post(spamMessage('lost'))
  const healthy = await client.post(spamMessage('neighbor'))
  // The next attempt is the job's last one, and its message is unavailable.
  await pool.query(
    `update pgboss.job set retry_limit = 0
     where name = 'analyze-report' and data ->> 'reportId' = $1`,
    [id],
  )
  await pool.query(`create table set_aside as select * from raw_messages where id = $1`, [id])
  await pool.query(`delete from raw_messages where id = $1`, [id])
  await here.start('work')
  const letter = await until('the dead letter', async () => {
    const { rows } = await pool.query<{ data: unknown; reason: unknown }>(
      `select data, source_output as reason from pgboss.job where name = 'dead-letter'`,
    )
    return rows[0]
  })
  expect(letter.data).toEqual({ reportId: id })
  expect(letter.reason).toMatchObject({ message: 'The raw message is missing.' })
  await client.untilEvent(healthy.id, 'held')

  await runChore(database.url, 'mark-dead')
  expect((await client.untilEvent(id, 'failed')).status).toBe('failed')

  await pool.query(`insert into raw_messages select * from set_aside`)
  const retried = await runProgram(['queue', 'retry', 'analyze-report'], env)
  expect(retried).toMatchObject({ code: 0, stdout: '1 dead letter was returned to its queue.\n' })
  expect((await client.untilEvent(id, 'held')).status).toBe('analyzed')
})

/** Runs a job that the schedule creates every minute. */
async function runChore(databaseUrl: string, queue: string): Promise<void> {
  const boss = await startBoss(databaseUrl, 'sends', { name: 'test', onError: () => undefined })
  await boss.send(queue, {})
  await stopBoss(boss, 1_000)
}
