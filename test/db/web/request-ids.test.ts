import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Writable } from 'node:stream'
import express from 'express'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { problemAnswers } from '../../../src/web/api/router.ts'
import { ProblemError } from '../../../src/web/problem.ts'
import { logRequests } from '../../../src/web/request-id.ts'
import { closeAfterThisTest } from '../../support/after-tests.ts'

const reportId = '01966666-0000-7000-8000-000000000001'

/** Starts a small server with our log and problem responses; the log is collected. */
async function startLogged(level: string) {
  const lines: Record<string, unknown>[] = []
  const into = new Writable({
    write(line, _encoding, done) {
      lines.push(JSON.parse(String(line)) as Record<string, unknown>)
      done()
    },
  })
  const log = pino({ level, base: null, timestamp: false }, into)
  const handle = express()
  handle.use(logRequests(log))
  handle.post('/reports', (_req, res) => {
    res.setHeader('location', `http://here.example/api/v1/reports/${reportId}`)
    res.status(202).end()
  })
  handle.get('/reports/:id', () => {
    throw new ProblemError('not-found', 'Report not found.')
  })
  handle.get(['/broken', '/broken/:id'], () => {
    throw new Error('The secret is x.')
  })
  handle.use(problemAnswers({ publicUrl: 'http://here.example', log }))
  const server = createServer(handle).listen(0)
  await once(server, 'listening')
  await closeAfterThisTest({
    close: async () => {
      server.close()
      await once(server, 'close')
    },
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const ask = async (path: string, method = 'GET') => {
    const answer = await fetch(`${url}${path}`, { method, headers: { connection: 'close' } })
    return { id: answer.headers.get('x-request-id'), text: await answer.text() }
  }
  return { lines, ask }
}

test('a failure of ours is logged with the id in its response', async () => {
  const { lines, ask } = await startLogged('info')
  const { id, text } = await ask('/broken')
  expect(id).toMatch(/^[0-9a-f]{12}$/)
  expect(text).toContain(`contact us with the number ${id}`)
  await ask(`/broken/${reportId}`)
  expect(lines).toMatchObject([
    { requestId: id, msg: 'A request failed.' },
    { about: reportId, msg: 'A request failed.' },
  ])
})

test('at the level debug, each request is logged with its id and that of its report', async () => {
  const { lines, ask } = await startLogged('debug')
  const { id } = await ask(`/reports/${reportId}?secret=1`)
  await ask('/reports', 'POST')
  await expect.poll(() => lines).toHaveLength(2)
  const [refused, accepted] = lines
  expect(refused).toMatchObject({ requestId: id, route: '/reports/:id', status: 404 })
  expect(refused).toMatchObject({ about: reportId })
  expect(accepted).toMatchObject({
    method: 'POST',
    route: '/reports',
    status: 202,
    about: reportId,
  })
  expect(JSON.stringify(lines)).not.toContain('secret')
})

test('otherwise requests are not logged', async () => {
  const { lines, ask } = await startLogged('info')
  const { id } = await ask(`/reports/${reportId}`)
  expect(id).toMatch(/^[0-9a-f]{12}$/)
  expect(lines).toEqual([])
})
